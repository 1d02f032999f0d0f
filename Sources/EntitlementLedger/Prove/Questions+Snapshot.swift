import Encodings
import Entitlements
import EventLog
package import LedgerAPI

extension Questions {
    /// What a signed snapshot of a customer claims: the state at the question's instant, and when each
    /// feature is allowed from then on (row Z10).
    ///
    /// `lifetime`: seconds after which it is old. Cost: two folds of the customer.
    package func snapshotClaims(
        _ question: CustomerQuestion,
        lifetime: Int64
    ) throws -> SnapshotClaims {
        let size = try prefix(knownAt: question.point.knownAt)
        let instant = question.point.at
        let (timeline, _) = try timeline(of: question, size: size)
        let seconds = instant.milliseconds / 1000
        let viewer = CatalogViewer(
            customer: question.customer,
            environment: question.environment
        )
        return SnapshotClaims(
            issuer: identity.origin,
            issuedAt: seconds,
            // Fits: both are of these years.
            expiresAt: seconds + lifetime,
            state: try show(question, size: size).answer,
            stretches: timeline.featureStretches.map {
                Keyed($0.feature, [AllowedStretch]($0.stretches, from: instant))
            },
            gates: try gateMap(at: question.point, for: viewer).map {
                ContentDigest.text(of: Array($0.json.description.utf8))
            }
        )
    }
}
