public import Encodings
public import Entitlements

/// A webhook body of RevenueCat that holds the envelope's rules and that nobody has vouched for.
///
/// The form is `{"api_version":"1.0","event":{…}}`
/// (revenuecat.com/docs/integrations/webhooks); a bare event, as exports hold it, is read too.
/// Unknown members are allowed anywhere.
public struct UnverifiedRevenueCatWebhook: Hashable, Sendable {
    let event: RevenueCatEvent

    /// Bytes that `api_version` may have at most.
    package static let versionByteLimit = 32

    /// Reads a body received over the wire.
    public static func reading(
        bytes: [UInt8]
    ) -> Result<UnverifiedRevenueCatWebhook, SignalRefusal> {
        json(of: bytes).flatMap(reading)
    }

    /// A body received over the wire as JSON, so that nobody reads it twice.
    package static func json(of bytes: [UInt8]) -> Result<JSONValue, SignalRefusal> {
        do throws(JSONFault) {
            return .success(try JSONValue(parsingStoreText: bytes))
        } catch {
            return .failure(
                SignalRefusal(.malformed, "", "\(error.message) at byte \(error.offset)")
            )
        }
    }

    /// Reads a body that is JSON already.
    public static func reading(
        _ json: JSONValue
    ) -> Result<UnverifiedRevenueCatWebhook, SignalRefusal> {
        Result { () throws(SignalRefusal) in
            UnverifiedRevenueCatWebhook(event: try Self.event(json))
        }
    }

    /// Takes the body for RevenueCat's word, because of the channel that it came by.
    ///
    /// The caller vouches for the channel. The check of the authorization header and of
    /// `X-RevenueCat-Webhook-Signature` (an HMAC over the raw bytes) belongs to the server, which
    /// calls this after it, and with nothing else.
    ///
    /// `receivedAt`: the time of arrival, which stands in for a time of RevenueCat's that is absurd
    /// (Stores, rule 6).
    public func trusting(
        _ channel: SignalChannel,
        receivedAt: Instant
    ) -> VerifiedRevenueCatWebhook {
        VerifiedRevenueCatWebhook(event: event.received(at: receivedAt), channel: channel)
    }

    private static func event(_ json: JSONValue) throws(SignalRefusal) -> RevenueCatEvent {
        guard case .object = json else {
            throw SignalRefusal(.malformed, "", "expected a JSON object")
        }
        if let version = json["api_version"] { try check(version) }
        if let event = json["event"] {
            do throws(SignalRefusal) {
                return try RevenueCatEvent(event)
            } catch {
                throw error.inside("event")
            }
        }
        guard json["type"] != nil, json["id"] != nil else {
            throw SignalRefusal(.missingField, "event", "required")
        }
        return try RevenueCatEvent(json)
    }

    private static func check(_ version: JSONValue) throws(SignalRefusal) {
        guard let text = version.string, !text.isEmpty else {
            throw SignalRefusal(.invalidValue, "api_version", "expected a version as text")
        }
        guard text.utf8.count <= versionByteLimit else {
            throw SignalRefusal(
                .outOfRange,
                "api_version",
                "expected at most \(versionByteLimit) bytes"
            )
        }
    }
}

/// A webhook body that counts as RevenueCat's word.
///
/// Only `UnverifiedRevenueCatWebhook.trusting(_:receivedAt:)` makes one.
public struct VerifiedRevenueCatWebhook: Hashable, Sendable {
    let event: RevenueCatEvent
    /// Why it is believed.
    package let channel: SignalChannel

    fileprivate init(event: RevenueCatEvent, channel: SignalChannel) {
        self.event = event
        self.channel = channel
    }

    /// The signal's id, the same on each retry.
    public var signalID: String { event.id }

    /// The event's type as sent, such as `INITIAL_PURCHASE`.
    package var type: String { event.type }
}
