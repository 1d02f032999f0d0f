package import Encodings
package import Entitlements

extension CustomerQuestion {
    private static let members: Set<Name> = [
        "customer", "at", "known", "knownSequence", "environment",
    ]

    /// Reads `{"customer","at"?,"known"?,"knownSequence"?,"environment"?}`.
    ///
    /// `environment`, `point`: what is asked where the question does not say.
    ///
    /// `now`: what instants may be told from.
    package init(
        _ json: JSONValue,
        environment: StoreEnvironment,
        point: BitemporalPoint,
        now: Instant
    ) throws(InputFault) {
        let reader = try ObjectReader(
            json,
            of: Self.members,
            object: "not a JSON object",
            member: "not a member of a question"
        )
        let customer = try reader.required("customer", "expected a customer id") { json in
            json.string.flatMap { CustomerID($0) }
        }
        func instant(_ name: String) throws(InputFault) -> Instant? {
            try reader.optional(name, "expected an instant") { json in
                json.string.flatMap { Instant(argument: $0, now: now) }
            }
        }
        var point = point
        if let at = try instant("at") { point.at = at }
        if let known = try instant("known") { point.knownAt = .instant(known) }
        let count = try reader.optional("knownSequence", "expected a count") { json in
            json.integer.flatMap { UInt64(exactly: $0) }
        }
        if let count {
            guard json["known"] ?? .null == .null else {
                throw reader.fault("knownSequence", "known and knownSequence exclude each other")
            }
            point.knownAt = .sequence(count)
        }
        let asked = try reader.optional(
            "environment",
            "expected production, sandbox or local"
        ) { json in
            json.string.flatMap(StoreEnvironment.init(name:))
        }
        self.init(customer: customer, environment: asked ?? environment, point: point)
    }
}
