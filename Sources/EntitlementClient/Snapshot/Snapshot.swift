import Crypto
import Encodings
import Entitlements

/// A text that may be a signed snapshot: nothing of it counts before it is verified.
struct UnverifiedSnapshot: Sendable {
    /// A compact JWS.
    let text: String

    /// Bytes that a snapshot may have.
    static let byteLimit = ClientResponse.byteLimit
    /// The type that its header says (RFC 8725, section 3.11).
    static let type = "entitlements+jwt"
}

/// A snapshot whose signature, customer and environment were checked (row Z10).
struct VerifiedSnapshot: Sendable {
    /// The compact JWS.
    let text: String
    /// What it claims.
    var entitlements: CustomerEntitlements

    fileprivate init(_ text: String, _ entitlements: CustomerEntitlements) {
        self.text = text
        self.entitlements = entitlements
    }
}

/// Why a text is no snapshot of a customer.
enum SnapshotRefusal: String, Error, Sendable, CaseIterable {
    /// It is no compact JWS, or too large for one.
    case malformed
    /// Its header says another algorithm than EdDSA, another type, or that something else must be
    /// understood.
    case header
    /// No key that is trusted has its name.
    case unknownKey = "unknown_key"
    /// The key did not sign it.
    case signature
    /// It is of somebody else, of another environment or another log.
    case subject
    /// It was signed, and does not claim what a snapshot claims.
    case claims
}

/// Whose snapshot is looked for.
struct SnapshotSubject: Sendable, Hashable {
    var customer: CustomerID
    var environment: StoreEnvironment
    /// The log's origin; nil: any log of a key that is trusted.
    var issuer: String?
}

extension UnverifiedSnapshot {
    /// Checks the signature by trusted keys, then of whom the snapshot is.
    ///
    /// Neither `exp` nor a clock refuses one: what is old is stale (row Z17). Cost: one signature.
    func verified(
        by keys: TrustedKeys,
        for subject: SnapshotSubject
    ) -> Result<VerifiedSnapshot, SnapshotRefusal> {
        guard text.utf8.count <= Self.byteLimit else { return .failure(.malformed) }
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, let header = Self.json(parts[0]),
            let signature = Base64.decode(parts[2], .url)
        else { return .failure(.malformed) }
        guard header["alg"]?.string == "EdDSA", header["typ"]?.string == Self.type,
            header["crit"] == nil
        else { return .failure(.header) }
        guard let key = header["kid"]?.string.flatMap({ keys.keys[$0] }) else {
            return .failure(.unknownKey)
        }
        let signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
        guard key.isValidSignature(signature, for: signed) else { return .failure(.signature) }
        // The claims are read only now that they are known to be the server's.
        guard let claims = Self.json(parts[1]) else { return .failure(.claims) }
        guard subject.customer.text.isSame(as: claims["sub"]?.string),
            claims["environment"]?.string == subject.environment.name,
            subject.issuer.map({ $0.isSame(as: claims["iss"]?.string) }) ?? true
        else { return .failure(.subject) }
        // Whatever does not fit is one refusal: the server is not asked to mend it.
        let entitlements = try? CustomerEntitlements(claims: claims, of: subject.customer)
        guard let entitlements else { return .failure(.claims) }
        return .success(VerifiedSnapshot(text, entitlements))
    }

    private static func json(_ part: ArraySlice<UInt8>) -> JSONValue? {
        // A part that is no JSON is none.
        Base64.decode(part, .url).flatMap { try? JSONValue(parsing: $0) }
    }
}
