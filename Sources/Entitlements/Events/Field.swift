import Encodings

/// A member of an event's `data` (Model, "Events").
///
/// The raw value stands in records: it is never reused.
public enum Field: UInt8, CaseIterable, Sendable, Comparable {
    case transactionID = 1
    case productID = 2
    case productKind = 3
    case expiresAt = 4
    case priceMicros = 5
    case currencyCode = 6
    case quantity = 7
    case ownership = 8
    case offer = 9
    case storefront = 10
    case graceUntil = 11
    case reason = 12
    case resumesAt = 13
    case autoRenew = 14
    case nextProductID = 15
    case alias = 16
    case method = 17
    case found = 18
    case appended = 19
    case differences = 20
    case through = 21
    case purchase = 22
    case from = 23
    case grantID = 24
    case features = 25
    case tier = 26
    case trialID = 27
    case useID = 28
    case featureID = 29
    case amount = 30
    case unit = 31
    case flowID = 32
    case errorCode = 33
    case stages = 34
    case platform = 35
    case experiment = 36
    case name = 37
    case detail = 38
    case stage = 39
    case retryable = 40
    case actor = 41
    case action = 42
    /// Numbers of the streams that an erasure takes (C6); the ledger's own.
    case erased = 43
    /// Sequences of the first events of evidence that an erasure deletes; the ledger's own.
    case evidence = 44
    /// Whom the store names for a transaction (C1).
    case account = 45

    /// The name in JSON.
    public var name: String { Self.names.words[Int(rawValue) - 1] }

    /// The field of that JSON name.
    public init?(name: String) {
        guard let index = Self.names.index(of: name) else { return nil }
        self.init(rawValue: UInt8(index + 1))
    }

    /// The field of the name that stands in a text.
    init?(_ node: Int, of text: JSONText) {
        guard let index = text.index(node, in: Self.names) else { return nil }
        self.init(rawValue: UInt8(index + 1))
    }

    /// Orders by raw value.
    public static func < (left: Field, right: Field) -> Bool { left.rawValue < right.rawValue }

    /// Names in the order of the raw values.
    private static let names = WordList([
        "transactionId", "productId", "productKind", "expiresAt", "priceMicros", "currencyCode",
        "quantity", "ownership", "offer", "storefront", "graceUntil", "reason", "resumesAt",
        "autoRenew", "nextProductId", "alias", "method", "found", "appended", "differences",
        "through", "purchase", "from", "grantId", "features", "tier", "trialId", "useId",
        "featureId", "amount", "unit", "flowId", "errorCode", "stages", "platform", "experiment",
        "name", "detail", "stage", "retryable", "actor", "action", "erased", "evidence",
        "account",
    ])

    /// What values of this field look like.
    public var shape: FieldShape {
        switch self {
        case .transactionID, .grantID, .useID, .flowID, .account: .identifier
        case .productID, .nextProductID, .tier, .trialID, .featureID, .unit: .name
        case .errorCode, .platform, .experiment, .name, .stage, .action, .storefront: .code
        case .reason, .differences, .detail, .actor: .text
        case .productKind: .choice(ProductKind.names)
        case .ownership: .choice(["purchased", "family_shared"])
        case .offer: .choice(["trial", "introductory", "promotional", "code", "win_back"])
        case .method: .choice(VerificationMethod.allCases.map(\.rawValue))
        case .currencyCode: .currency
        case .expiresAt, .graceUntil, .resumesAt, .through: .instant
        case .priceMicros: .integer(-FieldShape.largestPrice...FieldShape.largestPrice)
        case .quantity: .integer(FieldShape.quantities)
        case .found, .appended: .integer(0...1_000_000_000)
        case .amount: .integer(0...1_000_000_000_000)
        case .autoRenew, .retryable: .flag
        case .alias, .purchase: .purchaseName
        case .from: .customers
        case .features, .erased, .evidence: .names
        case .stages: .durations
        }
    }

    /// What values of this field look like in events of a kind about a kind of subject: an alias is
    /// another name of the subject, and what was given back is no less than nothing.
    ///
    /// What is recorded is held against `shape`: earlier programs took any price.
    package func shape(in kind: EventKind, about subject: Subject.Kind) -> FieldShape {
        switch (self, kind) {
        case (.alias, _) where subject == .customer: .identifier
        case (.priceMicros, .revocationRefunded), (.priceMicros, .revocationRevoked):
            .integer(0...FieldShape.largestPrice)
        default: shape
        }
    }

    /// What a value is, where neither the name nor the shape says it.
    package var about: String? {
        switch self {
        case .account: "The customer whom the store names for this transaction"
        case .currencyCode: "ISO 4217"
        case .experiment: "EXPERIMENT/VARIANT as the app showed it, or EXPERIMENT alone"
        case .priceMicros: "Millionths of the currency's unit"
        case .stages: "Names to milliseconds"
        default: nil
        }
    }
}

/// What the values of a field look like.
public enum FieldShape: Sendable, Equatable {
    /// An id of a store or a client, 1 to 1024 bytes without control characters.
    case identifier
    /// An id of the catalog, 1 to 256 bytes without control characters.
    case name
    /// A word of programs, which stands in clear for good: 1 to 64 of the characters that `Code`
    /// has, so that neither addresses nor sentences fit.
    case code
    /// Free text, at most 8192 bytes; must not hold ids.
    case text
    /// One of these words.
    case choice([String])
    /// ISO 4217: three capital letters.
    case currency
    /// An instant in 2000 to 2200.
    case instant
    /// An integer within a range.
    case integer(ClosedRange<Int64>)
    /// True or false.
    case flag
    /// `STORE/ORIGINAL_ID`.
    case purchaseName
    /// Customer ids, 1 to 100 of them.
    case customers
    /// Ids of the catalog, at most 1000.
    case names
    /// Codes to milliseconds, at most 32.
    case durations

    /// A million millions of a currency's unit, in micros.
    public static let largestPrice: Int64 = 1_000_000_000_000_000_000
    /// How many of a product one transaction can be for.
    package static let quantities: ClosedRange<Int64> = 1...1_000_000
    /// Bytes of a name.
    public static let nameByteLimit = 256
    /// Bytes of a free text.
    public static let textByteLimit = 8192
    /// Customers that one transfer names.
    public static let customerLimit = 100
    /// Features that one grant names.
    public static let nameLimit = 1000
    /// Stages of one flow.
    public static let durationLimit = 32
    /// Milliseconds that a stage may take: a leap year.
    public static let longestDuration = Instant.millisecondsPerDay * 366
}

/// What kind of product a period is of (Model, "One purchase").
public enum ProductKind: UInt8, CaseIterable, Sendable {
    case nonConsumable = 1
    case consumable = 2
    case autoRenewable = 3
    case nonRenewing = 4

    static let names = ["non_consumable", "consumable", "auto_renewable", "non_renewing"]

    /// The name in JSON.
    public var name: String { Self.names[Int(rawValue) - 1] }

    /// The kind of that name.
    public init?(name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: UInt8(index + 1))
    }
}

/// By what evidence was checked, in the order of the numbers that records have.
public enum VerificationMethod: String, CaseIterable, Sendable {
    /// What the App Store signed.
    case appStoreJWS = "app_store_jws"
    /// What Google Play signed.
    case playSignature = "play_signature"
    /// The store was asked.
    case storeAPI = "store_api"
    /// Whoever knows the channel's secret told.
    case channelSecret = "channel_secret"
    /// Somebody vouches for it.
    case manual
}
