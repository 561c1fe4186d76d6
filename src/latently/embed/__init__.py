"""Maps of points: few coordinates for each row, so that near rows stay near."""




