import Encodings

/// A member of an object that holds a signed message of the App Store
/// (developer.apple.com/documentation/appstoreservernotifications and appstoreserverapi).
struct AppStoreMember: Sendable {
    /// What it is called.
    let name: String
    /// What its message says.
    let kind: AppStoreSignalKind

    private static let all = [
        AppStoreMember(name: "signedPayload", kind: .notification),
        AppStoreMember(name: "signedTransactionInfo", kind: .transaction),
        AppStoreMember(name: "signedRenewalInfo", kind: .renewalInfo),
        AppStoreMember(name: "signedAppTransactionInfo", kind: .appTransaction),
    ]

    /// Those that an object has, in the order in which they are read, with their values, which need not be
    /// messages.
    static func present(
        in object: JSONValue
    ) -> [(member: AppStoreMember, value: JSONValue)] {
        all.compactMap { member in
            object.present(member.name).map { (member: member, value: $0) }
        }
    }
}

extension CompactJWS {
    /// Whether bytes begin as a message of the App Store does: `{"` is `eyJ` in base64url.
    static func isBegun(by bytes: [UInt8]) -> Bool { bytes.starts(with: Array("eyJ".utf8)) }

    /// The first message in what was received: by itself, as a text of JSON, or in a member of an object; nil:
    /// none stands there.
    ///
    /// Nothing is verified. Cost: linear in what was received.
    init?(firstIn received: [UInt8]) {
        // What is no message by itself may be JSON that holds one.
        if Self.isBegun(by: received), let message = try? CompactJWS(received) {
            self = message
            return
        }
        // What is neither holds none.
        guard let json = try? JSONValue(parsingStoreText: received),
            let text = json.string
                ?? AppStoreMember.present(in: json).lazy.compactMap(\.value.string).first,
            // As above.
            let message = try? CompactJWS(Array(text.utf8))
        else { return nil }
        self = message
    }
}
