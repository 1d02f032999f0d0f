public import Encodings
public import Entitlements

/// A push of Pub/Sub with a notification of Google Play's that nobody has vouched for.
///
/// The form is `{"message":{"data":"BASE64","messageId":"…"},"subscription":"…"}`
/// (cloud.google.com/pubsub/docs/push); unknown members are allowed anywhere.
public struct UnverifiedPlayPush: Hashable, Sendable {
    private let messageID: String
    private let notification: PlayNotification

    /// Reads a body received over the wire.
    ///
    /// `packageNames`: the apps whose notifications are taken. `now`: the time of arrival, which stands
    /// in for a time that is absurd (Stores, rule 6).
    public static func reading(
        bytes: [UInt8],
        packageNames: Set<Name>,
        now: Instant
    ) -> Result<UnverifiedPlayPush, SignalRefusal> {
        do throws(JSONFault) {
            let json = try JSONValue(parsingStoreText: bytes)
            return reading(json, packageNames: packageNames, now: now)
        } catch {
            return .failure(
                SignalRefusal(.malformed, "", "\(error.message) at byte \(error.offset)")
            )
        }
    }

    /// Reads a body that is JSON already.
    public static func reading(
        _ json: JSONValue,
        packageNames: Set<Name>,
        now: Instant
    ) -> Result<UnverifiedPlayPush, SignalRefusal> {
        Result { () throws(SignalRefusal) in
            let push = try UnverifiedPlayPush(json, now: now)
            guard packageNames.contains(Name(push.notification.packageName)) else {
                throw SignalRefusal(
                    .wrongBundle,
                    dataPath + ".packageName",
                    "not an app of this ledger"
                )
            }
            return push
        }
    }

    /// Takes the push for Google's word, because of the channel that it came by.
    ///
    /// The caller vouches for the channel: the check of the token that Pub/Sub sends belongs to the
    /// server.
    public func trusting(_ channel: SignalChannel) -> VerifiedPlayPush {
        VerifiedPlayPush(messageID: messageID, notification: notification, channel: channel)
    }

    /// What an answer says that it was asked for.
    var cause: PlayAnswer.Cause {
        PlayAnswer.Cause(messageID: messageID, notification: notification)
    }

    private static let dataPath = "message.data"

    private init(_ json: JSONValue, now: Instant) throws(SignalRefusal) {
        guard let message = json.present("message"), message.members != nil else {
            throw SignalRefusal(.missingField, "message", "required")
        }
        let fields = PlayObject(json: message)
        guard let id = fields["messageId"] ?? fields["message_id"] else {
            throw SignalRefusal(.missingField, "message.messageId", "required")
        }
        guard let text = id.string, Identifier.isValid(text), text.utf8.count <= SignalID.byteLimit
        else {
            throw SignalRefusal(
                .invalidValue,
                "message.messageId",
                "expected 1 to \(SignalID.byteLimit) bytes of text without control characters"
            )
        }
        guard let data = fields.text("data"), let bytes = Base64.decode(data) else {
            throw SignalRefusal(.missingField, Self.dataPath, "expected base64")
        }
        messageID = text
        notification = try Self.notification(bytes, now)
    }

    private static func notification(
        _ bytes: [UInt8],
        _ now: Instant
    ) throws(SignalRefusal) -> PlayNotification {
        let json: JSONValue
        do throws(JSONFault) {
            json = try JSONValue(parsingStoreText: bytes)
        } catch {
            throw SignalRefusal(.malformed, dataPath, "\(error.message) at byte \(error.offset)")
        }
        do throws(SignalRefusal) {
            return try PlayNotification(json, now: now)
        } catch {
            throw error.inside(dataPath)
        }
    }
}

/// A push that counts as Google's word.
///
/// Only `UnverifiedPlayPush.trusting(_:)` makes one.
public struct VerifiedPlayPush: Hashable, Sendable {
    /// `messageId`, the same on each delivery.
    let messageID: String
    let notification: PlayNotification
    /// Why it is believed.
    package let channel: SignalChannel
    /// When it happened, as Google says; where that is absurd, the time of arrival.
    package var saidAt: Instant { notification.saidAt }

    fileprivate init(messageID: String, notification: PlayNotification, channel: SignalChannel) {
        self.messageID = messageID
        self.notification = notification
        self.channel = channel
    }
}
