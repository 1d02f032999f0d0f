package import Encodings
package import Entitlements
import LedgerAPI

extension CustomerEntitlements {
    /// Reads what a snapshot claims; the caller has verified it.
    ///
    /// An app meets servers that are newer than it: a purchase, a limit or a reason in words that it
    /// does not know is left out, the stretches, which decide, are not.
    package init(claims: JSONValue, of customer: CustomerID) throws {
        let reader = ObjectReader(claims)
        let stretches = try reader.required("stretches", "expected an object", \.members)
        let details = claims["features"] ?? .null
        var features: [Name: KnownFeature] = [:]
        for member in stretches {
            features[Name(member.name)] = try KnownFeature(
                member.value.array?.map { try AllowedStretch.fields.read($0) },
                details[member.name]
            )
        }
        self.init(
            customer,
            tier: try reader.required("tier", "expected text", \.string),
            source: .server,
            features: features,
            // What a newer server says in words of its own is shown by a newer app.
            purchases: (claims["purchases"]?.array ?? [])
                .compactMap { try? PurchaseState.fields.read($0) },
            asOf: try reader.required("at", Self.expected, Self.instant),
            staleAt: try reader.required("exp", "expected seconds", Self.seconds),
            validUntil: try reader.optional("validUntil", Self.expected, Self.instant),
            sequence: try reader.required("sequence", "expected a size") { json in
                json.integer.flatMap(UInt64.init(exactly:))
            },
            gateTag: try reader.text("gates")
        )
    }

    private static let expected = "expected an instant"

    private static func instant(_ json: JSONValue) -> Instant? {
        json.string.flatMap { Instant(rfc3339: $0) }
    }

    private static func seconds(_ json: JSONValue) -> Instant? {
        guard let (milliseconds, overflow) = json.integer?.multipliedReportingOverflow(by: 1000),
            !overflow
        else { return nil }
        return Instant(milliseconds: milliseconds)
    }
}

extension CustomerEntitlements.KnownFeature {
    /// `details`: what the state says of the feature; nil: nothing.
    fileprivate init(_ stretches: [AllowedStretch]?, _ details: JSONValue?) throws {
        guard let stretches else {
            throw InputFault(.malformed, "stretches", "expected arrays")
        }
        self.init(
            stretches: stretches.map { Interval(start: $0.start, end: $0.end) },
            reason: details?["reason"]?.string.flatMap(AccessReason.init(rawValue:)),
            sources: (details?["sources"]?.array ?? []).compactMap(\.string),
            // A limit that counts in another way is the server's to keep.
            limit: details?["limit"].flatMap { try? UsageLimit.fields.read($0) }
        )
    }
}
