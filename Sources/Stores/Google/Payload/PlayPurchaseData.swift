import Crypto
import Encodings
public import Entitlements

/// What Google Play told an app of a purchase, with its signature, that nobody has checked:
/// `{"purchaseData":"{…}","signature":"BASE64"}`, the text as it was given
/// (developer.android.com/google/play/billing/security).
public struct UnverifiedPlayPurchase: Hashable, Sendable {
    private let data: [UInt8]
    private let signature: [UInt8]

    /// Bytes that the text may have at most: a real one has a few hundred.
    package static let dataByteLimit = 16 << 10
    /// Bytes that a signature may have: those of a key of 4 096 bits.
    private static let signatureByteLimit = 512

    /// Reads the two texts.
    public static func reading(
        purchaseData: String,
        signature: String
    ) -> Result<UnverifiedPlayPurchase, SignalRefusal> {
        guard purchaseData.utf8.count <= dataByteLimit else {
            return .failure(
                SignalRefusal(.tooLarge, "purchaseData", "expected at most \(dataByteLimit) bytes")
            )
        }
        guard let bytes = Base64.decode(signature), (1...signatureByteLimit).contains(bytes.count)
        else { return .failure(SignalRefusal(.notSigned, "signature", "expected base64")) }
        return .success(
            UnverifiedPlayPurchase(data: Array(purchaseData.utf8), signature: bytes)
        )
    }

    /// Checks the signature, then reads what it is over.
    ///
    /// It proves that Google Play said so once: not that it was not given back since. Cost: one RSA
    /// verification for each key.
    public func verified(
        by configuration: PlayConfiguration
    ) -> Result<VerifiedPlayPurchase, SignalRefusal> {
        verified(by: configuration, receivedAt: nil)
    }

    /// Does the same for a text that has just arrived, of which what was bought more than a day later is
    /// absurd (Stores, rule 6).
    ///
    /// `receivedAt`: the time of arrival; nil: it is not known, so that no time lies ahead.
    package func verified(
        by configuration: PlayConfiguration,
        receivedAt: Instant?
    ) -> Result<VerifiedPlayPurchase, SignalRefusal> {
        Result { () throws(SignalRefusal) in
            guard configuration.licenseKeys.contains(where: { $0.accepts(signature, over: data) })
            else {
                throw SignalRefusal(
                    .badSignature,
                    "signature",
                    "not by a key of this ledger's apps"
                )
            }
            let json: JSONValue
            do throws(JSONFault) {
                json = try JSONValue(parsingStoreText: data)
            } catch {
                throw SignalRefusal(
                    .malformed,
                    "purchaseData",
                    "\(error.message) at byte \(error.offset)"
                )
            }
            do throws(SignalRefusal) {
                return try VerifiedPlayPurchase(
                    json,
                    data: data,
                    signature: signature,
                    packageNames: configuration.packageNames,
                    receivedAt: receivedAt
                )
            } catch {
                throw error.inside("purchaseData")
            }
        }
    }
}

/// Purchase data that Google Play signed.
///
/// Only `UnverifiedPlayPurchase.verified(by:)` makes one.
public struct VerifiedPlayPurchase: Hashable, Sendable {
    /// The purchase, by its token.
    public let purchase: PurchaseName
    /// The id under which it is recorded: that of the text.
    let signalID: String
    let fields: PlayObject
    /// Both texts, as they are kept.
    let body: [UInt8]
    /// When it may have been bought at the latest; nil: nobody can tell.
    let latest: Instant?

    fileprivate init(
        _ json: JSONValue,
        data: [UInt8],
        signature: [UInt8],
        packageNames: Set<Name>,
        receivedAt: Instant?
    ) throws(SignalRefusal) {
        fields = PlayObject(json: json)
        guard let packageName = fields.text("packageName"), packageNames.contains(Name(packageName))
        else {
            throw SignalRefusal(.wrongBundle, "packageName", "not an app of this ledger")
        }
        guard let purchase = fields.identifier("purchaseToken").flatMap({ PurchaseName.play($0) })
        else { throw SignalRefusal(.missingField, "purchaseToken", "required") }
        self.purchase = purchase
        latest = receivedAt?.advanced(byMilliseconds: Instant.millisecondsPerDay)
        signalID = "purchase-data/" + Hexadecimal.encode(SHA256.hash(data: data))
        let texts = JSONValue.members([
            "purchaseData": .string(String(decoding: data, as: UTF8.self)),
            "signature": .string(Base64.encode(signature.span)),
        ])
        body = Array(texts.description.utf8)
    }
}
