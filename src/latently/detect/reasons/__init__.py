"""Why a row is unusual: which of its values are not what the others predict."""
