import Encodings
package import Entitlements

/// That what a customer may use became another: the `data` of a message `entitlement.changed`
/// (Interfaces, "Webhooks").
package struct EntitlementChanged: Described {
    /// The customer, by the name that links lead to.
    package var customer: String
    /// The environment.
    package var environment: StoreEnvironment
    /// When.
    package var at: Instant
    /// What they could use just before.
    package var before: Access
    /// What they can use from then on.
    package var after: Access
    /// The event that made it so; nil: time did.
    package var cause: UInt64?
    /// When it may become another by itself; nil: never.
    package var validUntil: Instant?

    /// What a customer may use.
    package struct Access: Described {
        /// The tier.
        package var tier: String
        /// The features that are allowed, by id.
        package var features: [String]

        /// Makes one.
        package init(tier: String, features: [String]) {
            self.tier = tier
            self.features = features
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("AllowedAccess", "What a customer may use", Self.init) {
            Field("tier", \.tier, .name)
            Field("features", \.features, .list(.name))
        }
    }

    /// Makes one.
    package init(
        customer: String,
        environment: StoreEnvironment,
        at: Instant,
        before: Access,
        after: Access,
        cause: UInt64?,
        validUntil: Instant?
    ) {
        self.customer = customer
        self.environment = environment
        self.at = at
        self.before = before
        self.after = after
        self.cause = cause
        self.validUntil = validUntil
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "EntitlementChanged",
        "That what a customer may use became another",
        Self.init
    ) {
        Field("customer", \.customer, .identifier)
        Field("environment", \.environment, .environment)
        Field("at", \.at, .instant)
        Field("before", \.before, .object)
        Field("after", \.after, .object)
        Field("cause", \.cause, .cause, "The sequence of the event that made it so, or `time`")
        Field("validUntil", \.validUntil, .orNull(.instant), "null: it stays so by itself")
    }
}

extension Form<UInt64?> {
    /// The sequence of an event, or `time` where there is none.
    fileprivate static var cause: Self {
        Form(
            .either([.common(.sequence), .choice([time])]),
            write: { value, text in
                if let value { text.literal(String(value)) } else { text.string(time) }
            },
            reading: { json in
                if json?.string == time { return nil }
                guard case .number(let digits)? = json, let sequence = UInt64(digits) else {
                    throw InputFault(.malformed, "", "a sequence, or \(time)")
                }
                return sequence
            }
        )
    }

    private static var time: String { "time" }
}
