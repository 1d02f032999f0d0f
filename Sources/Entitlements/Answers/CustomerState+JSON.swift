public import Encodings

/// Gives the numbers of an answer their names.
public protocol AnswerNames {
    /// `STORE/ORIGINAL_ID`, or `erased/NUMBER`.
    func purchaseName(_ number: UInt64) throws -> String
    /// The id of the grant that was given at a sequence.
    func grantID(givenAt sequence: UInt64) throws -> String
}

extension CustomerState {
    /// The members `tier` to `warnings` of the `show` shape (Interfaces, "Shapes").
    ///
    /// Arrays are ordered by name.
    public func members(names: some AnswerNames) throws -> [JSONMember] {
        let features = try features.map { try JSONMember($0.id, $0.json(names: names)) }
        let purchases = try purchases.map { try (names.purchaseName($0.number), $0) }
        let grants = try grants.map { try (names.grantID(givenAt: $0.sequence), $0) }
        return [
            JSONMember("tier", .string(tier)),
            JSONMember("validUntil", .instant(validUntil)),
            JSONMember("features", .object(features)),
            JSONMember(
                "purchases",
                .array(
                    purchases.sorted { $0.0.precedes($1.0) }.map {
                        .object($0.1.members(name: $0.0))
                    }
                )
            ),
            JSONMember(
                "grants",
                .array(grants.sorted { $0.0.precedes($1.0) }.map { $0.1.json(id: $0.0) })
            ),
            JSONMember("trials", .array(trials.map(\.json))),
            JSONMember("warnings", .array(warnings.map(\.json))),
        ]
    }
}

extension AccessSource {
    /// The source as answers name it: `STORE/ORIGINAL_ID`, `grant/ID` or `trial/ID`.
    public func name(_ names: some AnswerNames) throws -> String {
        switch self {
        case .purchase(let number): try names.purchaseName(number)
        case .grant(let sequence): try "grant/" + names.grantID(givenAt: sequence)
        case .trial(let id): "trial/" + id
        }
    }
}

extension CustomerState.FeatureState {
    /// The shape of one feature.
    public func json(names: some AnswerNames) throws -> JSONValue {
        let sources = try sources.map { try $0.name(names) }
        return .members([
            "allowed": .bool(isAllowed), "until": .instant(until),
            "reason": .string(reason.rawValue), "sources": .strings(sources.sortedByBytes()),
            "limit": limit?.json ?? .null,
        ])
    }
}

extension CustomerState.LimitState {
    /// The `limit` of a feature in the `show` shape.
    public var json: JSONValue {
        .members([
            "period": .optional(perPeriod?.period.rawValue),
            "count": perPeriod.map { .integer($0.count) } ?? .null,
            "remaining": remaining.map { .integer($0) } ?? .null,
            "perUse": perUse.map {
                .members(["amount": .integer($0.amount), "unit": .optional($0.unit)])
            } ?? .null,
            "resetsAt": .instant(resetsAt),
        ])
    }
}

extension CustomerState.PurchaseState {
    /// The members of one purchase in the `show` shape.
    ///
    /// `name`: `STORE/ORIGINAL_ID`, or `erased/NUMBER`.
    public func members(name: String) -> [JSONMember] {
        [
            JSONMember("purchase", .string(name)),
            JSONMember("productId", .optional(productID)),
            JSONMember("productKind", .optional(productKind?.name)),
            JSONMember("status", .string(status.rawValue)),
            JSONMember("expiresAt", .instant(expiresAt)),
            JSONMember("isVerified", .bool(isVerified)),
            JSONMember("isSynced", .bool(syncedAt != nil)),
            JSONMember("syncedAt", .instant(syncedAt)),
            JSONMember("willRenew", willRenew.map { .bool($0) } ?? .null),
            JSONMember("nextProductId", .optional(nextProductID)),
        ]
    }
}

extension CustomerState.GrantState {
    fileprivate func json(id: String) -> JSONValue {
        .members([
            "grantId": .string(id), "features": .strings(features), "tier": .optional(tier),
            "startsAt": .instant(interval.start), "expiresAt": .instant(interval.end),
            "active": .bool(isActive),
        ])
    }
}

extension CustomerState.TrialState {
    fileprivate var json: JSONValue {
        .members(["trialId": .string(id), "remainingDays": .integer(remainingDays)])
    }
}

extension CustomerState.Warning {
    fileprivate var json: JSONValue {
        switch self {
        case .unmapped(let productID):
            .members(["code": "unmapped", "productId": .string(productID)])
        case .noCatalog: .members(["code": "no_catalog"])
        }
    }
}
