import Crypto
import Encodings
import Entitlements

@testable import EntitlementClient

/// The instant of most tests.
let noon = Instant(milliseconds: 1_790_000_000_000)

extension Instant {
    /// So many days later.
    func plus(days: Int64) -> Instant {
        advanced(byMilliseconds: days * Self.millisecondsPerDay)
    }

    /// So many seconds later.
    func plus(seconds: Int64) -> Instant { advanced(byMilliseconds: seconds * 1000) }
}

/// Signs snapshots as a server does, with a key of the tests' own.
struct SnapshotAuthority: Sendable {
    private let key = Curve25519.Signing.PrivateKey()
    let id: String

    static let customer: CustomerID = "alice-1"
    static let subject = SnapshotSubject(customer: customer, environment: .production)

    init(id: String = "k1") { self.id = id }

    /// The set of its one key.
    var jwks: String {
        let x = Base64.encode(Array(key.publicKey.rawRepresentation).span, .url)
        return """
            {"keys":[{"crv":"Ed25519","kty":"OKP","x":"\(x)","alg":"EdDSA","use":"sig","kid":"\(id)"}]}
            """
    }

    func keys() throws -> TrustedKeys { try TrustedKeys(jwks: jwks) }

    /// Claims with a header, signed whatever they are.
    func sign(_ claims: String, header: String? = nil) throws -> String {
        let header = header ?? #"{"alg":"EdDSA","kid":"\#(id)","typ":"entitlements+jwt"}"#
        let text = [header, claims].map { Base64.encode(Array($0.utf8).span, .url) }
            .joined(separator: ".")
        let signature = Array(try key.signature(for: Array(text.utf8)))
        return text + "." + Base64.encode(signature.span, .url)
    }

    /// A snapshot of a customer who has `export` until an instant, and `scan`, which is free.
    func snapshot(
        of customer: CustomerID = customer,
        at instant: Instant = noon,
        until end: Instant? = noon.plus(days: 30),
        sequence: UInt64 = 7,
        environment: String = "production"
    ) throws -> String {
        try sign(
            Self.claims(
                of: customer,
                at: instant,
                until: end,
                sequence: sequence,
                environment: environment
            )
        )
    }

    static func claims(
        of customer: CustomerID = customer,
        at instant: Instant = noon,
        until end: Instant? = noon.plus(days: 30),
        sequence: UInt64 = 7,
        environment: String = "production"
    ) -> String {
        let last = end.map { "\"\($0)\"" } ?? "null"
        let isOpen = end.map { instant < $0 } ?? true
        let stretch = isOpen ? #"[{"from":"\#(instant)","to":\#(last)}]"# : "[]"
        let seconds = instant.milliseconds / 1000
        return """
            {"iss":"ledger.test/log","sub":"\(customer)","iat":\(seconds),
             "exp":\(seconds + 2_592_000),"customer":"\(customer)",
             "environment":"\(environment)","at":"\(instant)","known":null,
             "sequence":\(sequence),"tier":"\(isOpen ? "pro" : "free")",
             "validUntil":\(isOpen ? last : "null"),
             "features":{"export":{"allowed":\(isOpen),"usable":\(isOpen),"refusal":null,
               "until":\(isOpen ? last : "null"),"reason":"\(isOpen ? "purchase" : "none")",
               "sources":\(isOpen ? #"["app_store/1"]"# : "[]"),"limit":null},
              "scan":{"allowed":true,"usable":true,"refusal":null,"until":null,"reason":"free",
               "sources":[],"limit":{"period":"day","count":3,"remaining":0,"perUse":null,
               "resetsAt":"\(instant.plus(seconds: 3600))"}}},
             "purchases":[],"grants":[],"trials":[],"warnings":[],"token":null,
             "stretches":{"export":\(stretch),"scan":[{"from":"\(instant)","to":null}]},
             "gates":"\(KeptGates.tag(of: Array(gateText.utf8)))"}
            """
    }

    /// Claims of a customer who owns the purchase `app_store/1` until an instant.
    static func owningClaims(
        of customer: CustomerID = customer,
        until end: Instant = noon.plus(days: 30)
    ) -> String {
        let purchase = """
            {"purchase":"app_store/1","productId":"pro.month","productKind":"auto_renewable",
             "status":"active","expiresAt":"\(end)","isVerified":true,"isSynced":false,"syncedAt":null,
             "willRenew":null,"nextProductId":null}
            """
        return claims(of: customer, until: end)
            .replacing(#""purchases":[]"#, with: #""purchases":[\#(purchase)]"#)
    }

    /// What a verified snapshot says.
    func entitlements(
        at instant: Instant = noon,
        until end: Instant? = noon.plus(days: 30)
    ) throws -> CustomerEntitlements {
        let text = try snapshot(at: instant, until: end)
        return try UnverifiedSnapshot(text: text).verified(by: keys(), for: Self.subject).get()
            .entitlements
    }
}

/// The gate map that goes with it: `scan` and `help` are free, `export` and `share` are sold.
let gateText = """
    {"tiers":["free","pro"],
     "features":{"export":{"level":"pro","products":["pro.month"]},
       "share":{"level":"pro","products":["pro.month"]},
       "help":{"level":"free","products":[]},"scan":{"level":"free","products":[]}},
     "products":{"pro.month":{"kind":"auto_renewable","tier":"pro","features":["export","share"]}}}
    """

/// Reads it.
func sampleGates() throws -> GateMap {
    try GateMap(json: JSONValue(parsing: Array(gateText.utf8)))
}

/// A month that the store verified.
func sampleTransaction(
    _ id: String = "1",
    expiresAt: Instant? = noon.plus(days: 30),
    account: CustomerID? = nil
)
    -> StoreTransaction
{
    StoreTransaction(
        id: id,
        originalID: id,
        productID: "pro.month",
        expiresAt: expiresAt,
        signed: "signed-\(id)",
        account: account
    )
}
