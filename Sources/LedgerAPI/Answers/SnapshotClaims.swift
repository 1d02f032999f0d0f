package import Entitlements

/// What a customer is entitled to from now on, as a signed snapshot claims it (row Z10; RFC 7519).
package struct SnapshotClaims: Described {
    /// The log's origin.
    package var issuer: String
    /// When it was made, in seconds.
    package var issuedAt: Int64
    /// When it is old, in seconds: whoever has no newer one may go on by its stretches.
    package var expiresAt: Int64
    /// What the customer is entitled to now.
    package var state: StateAnswer
    /// When each feature is allowed from now on.
    package var stretches: [Keyed<[AllowedStretch]>]
    /// The entity tag of the gate map that it goes with; nil: no catalog was published yet.
    package var gates: String?

    /// Makes claims.
    package init(
        issuer: String,
        issuedAt: Int64,
        expiresAt: Int64,
        state: StateAnswer,
        stretches: [Keyed<[AllowedStretch]>],
        gates: String?
    ) {
        self.issuer = issuer
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.state = state
        self.stretches = stretches
        self.gates = gates
    }

    /// The customer, whom a state always names.
    private var subject: String { state.question.customer ?? "" }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Snapshot",
        "The claims of a signed snapshot (JWT)",
        { issuer, _, issuedAt, expiresAt, state, stretches, gates in
            Self(
                issuer: issuer,
                issuedAt: issuedAt,
                expiresAt: expiresAt,
                state: state,
                stretches: stretches,
                gates: gates
            )
        }
    ) {
        Field("iss", \.issuer, .text, "The log's origin")
        Field("sub", \.subject, .identifier, "The customer")
        Field("iat", \.issuedAt, .count, "Seconds since 1970")
        Field("exp", \.expiresAt, .count, "Seconds since 1970")
        Field(inline: \.state)
        Field(
            "stretches",
            \.stretches,
            .map(.list(.object)),
            "When each feature is allowed, from now on"
        )
        Field("gates", \.gates, .orNull(.text), "The entity tag of the gate map; null: no catalog")
    }
}

/// A stretch in which a feature is allowed.
package struct AllowedStretch: Described {
    /// Its first instant; that of the snapshot, where it began before.
    package var start: Instant
    /// The first instant after it; nil: it does not end.
    package var end: Instant?

    /// Makes a stretch.
    package init(start: Instant, end: Instant?) {
        self.start = start
        self.end = end
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "AllowedStretch",
        "A stretch in which a feature is allowed",
        Self.init
    ) {
        Field("from", \.start, .instant)
        Field("to", \.end, .orNull(.instant))
    }
}

extension [AllowedStretch] {
    /// The stretches in which a feature is allowed, from an instant on, whatever the reason.
    ///
    /// `reasons`: the feature's reasons over time, ascending.
    package init(_ reasons: [NamedStretch], from instant: Instant) {
        self = []
        for stretch in reasons where stretch.value != AccessReason.none.rawValue {
            guard stretch.interval.end.map({ instant < $0 }) ?? true else { continue }
            let start = Swift.max(stretch.interval.start, instant)
            if let last, last.end == start {
                self[count - 1].end = stretch.interval.end
            } else {
                append(AllowedStretch(start: start, end: stretch.interval.end))
            }
        }
    }
}
