"""Which wines do not belong, and why; and where detectors disagree."""

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from latently.detect import CombinedDetector, KernelDensity, KernelPCADetector, OneClassSVM

wine = load_wine(as_frame=True).data
scaled = StandardScaler().set_output(transform="pandas").fit_transform(wine)

detector = CombinedDetector(
    [KernelDensity(bandwidth="rule"), OneClassSVM(nu=0.1), KernelPCADetector()], contamination=0.02
).fit(scaled)

outliers = scaled[detector.predict(scaled) == -1]
for (row, _), told in zip(outliers.iterrows(), detector.explain(outliers), strict=True):
    print(f"wine {row} is {told['text']}")

apart = detector.disagreement(scaled)
print(f"detectors disagree most about wine {apart.argmax()}: tails {detector.tails(scaled)[apart.argmax()].round(2)}")
