import Encodings
package import Entitlements
import Synchronization

/// The Play Developer API: what is true of a purchase
/// (developers.google.com/android-publisher/api-ref/rest/v3).
package final class PlayDeveloperAPI: Sendable {
    private let account: ServiceAccount
    private let caller: StoreCaller
    private let baseURL: String
    private let clock: @Sendable () -> Instant
    private let access = Mutex<Access?>(nil)

    /// Google's own address.
    package static let googleURL = "https://androidpublisher.googleapis.com"

    private struct Access {
        var token: String
        var endsAt: Instant
    }

    /// Asks as an account; `baseURL`: nil: Google's.
    package init(
        _ account: ServiceAccount,
        caller: StoreCaller,
        baseURL: String? = nil,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.account = account
        self.caller = caller
        self.baseURL = baseURL ?? Self.googleURL
        self.clock = clock
    }

    /// What a push hinted at, as `import --format play` takes it; nil: at nothing that can be asked for.
    ///
    /// `body`: the push as received. Cost: one question, and one for an access token each hour.
    package func answer(
        to push: VerifiedPlayPush,
        body: [UInt8]
    ) async throws(StoreFault) -> [UInt8]? {
        let (packageName, content) = (push.notification.packageName, push.notification.content)
        let path: String
        switch content {
        case .subscription(_, let token): path = Self.subscriptionPath(token)
        case .oneTimeProduct(_, let token): path = Self.productPath(token)
        case .voided, .pendingRefundReview, .test, .unknown: return nil
        }
        let answer = try await get(packageName, path)
        return answered(packageName, push.notification.token ?? "", answer, after: body)
    }

    /// What is true of a purchase that an app names, a subscription or a one-time product.
    package func answer(
        of token: String,
        packageName: String
    ) async throws(StoreFault) -> [UInt8] {
        do throws(StoreFault) {
            let answer = try await get(packageName, Self.subscriptionPath(token))
            return answered(packageName, token, answer, after: nil)
        } catch  where [.notFound, .rejected].contains(error.code) {
            // A one-time product's token is none of a subscription's.
            let answer = try await get(packageName, Self.productPath(token))
            return answered(packageName, token, answer, after: nil)
        }
    }

    /// Tells Google that what was bought is given.
    ///
    /// Telling it again changes nothing.
    package func acknowledge(_ purchase: PlayAcknowledgement) async throws(StoreFault) {
        let kind = purchase.isSubscription ? "subscriptions" : "products"
        let url =
            address(purchase.packageName) + "purchases/\(kind)/\(purchase.productID.escaped)"
            + "/tokens/\(purchase.token.escaped):acknowledge"
        _ = try await signedIn { token in
            StoreRequest(
                .post,
                url,
                headers: [
                    "Authorization": "Bearer \(token)", "Content-Type": "application/json",
                ],
                body: Array("{}".utf8)
            )
        }
    }

    private static func subscriptionPath(_ token: String) -> String {
        "purchases/subscriptionsv2/tokens/" + token.escaped
    }

    private static func productPath(_ token: String) -> String {
        "purchases/productsv2/tokens/" + token.escaped
    }

    private func get(_ packageName: String, _ path: String) async throws(StoreFault) -> [UInt8] {
        let url = address(packageName) + path
        let response = try await signedIn { token in
            StoreRequest(.get, url, headers: ["Authorization": "Bearer \(token)"])
        }
        guard let json = try? JSONValue(parsingStoreText: response.body), json.members != nil else {
            throw StoreFault(.malformed, status: response.status)
        }
        return response.body
    }

    private func address(_ packageName: String) -> String {
        "\(baseURL)/androidpublisher/v3/applications/\(packageName.escaped)/"
    }

    /// Asks with an access token, and with a new one where the old one was taken back before its hour
    /// was over.
    private func signedIn(
        _ request: (_ token: String) -> StoreRequest
    ) async throws(StoreFault) -> StoreResponse {
        do throws(StoreFault) {
            return try await caller.send(request(accessToken()))
        } catch  where error.status == 401 {
            access.withLock { $0 = nil }
            return try await caller.send(request(accessToken()))
        }
    }

    /// An answer with what was asked, each as it came.
    private func answered(
        _ packageName: String,
        _ token: String,
        _ answer: [UInt8],
        after push: [UInt8]?
    ) -> [UInt8] {
        let asked = JSONValue.members([
            "packageName": .string(packageName), "purchaseToken": .string(token),
            "observedAt": .string(clock().description),
        ])
        var body = Array(asked.description.utf8.dropLast())
        if let push { body += Array(#","push":"#.utf8) + push }
        return body + Array(#","answer":"#.utf8) + answer + [UInt8(ascii: "}")]
    }

    /// A token that lets us ask, kept until a minute before it ends.
    private func accessToken() async throws(StoreFault) -> String {
        let now = clock()
        if let known = access.withLock(\.self), now < known.endsAt { return known.token }
        guard let request = try? account.signIn(at: now) else {
            throw StoreFault(.notPermitted)
        }
        let response: StoreResponse
        do throws(StoreFault) {
            response = try await caller.send(request)
        } catch  where error.code == .rejected {
            // What is wrong is the account, or its key: nothing that a store's message could mend.
            throw StoreFault(.notPermitted, status: error.status)
        }
        let json = try? JSONValue(parsing: response.body)
        guard let token = json?["access_token"]?.string,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw StoreFault(.malformed, status: response.status) }
        let seconds = min(max(json?["expires_in"]?.integer ?? 0, 0), Self.longestLifetime)
        // Fits: a day at most.
        let endsAt = now.advanced(byMilliseconds: (seconds - Self.margin) * 1000)
        access.withLock { $0 = Access(token: token, endsAt: endsAt) }
        return token
    }

    private static let longestLifetime: Int64 = 86_400
    private static let margin: Int64 = 60
}

extension String {
    /// As one segment of a path (RFC 3986, section 2.3).
    fileprivate var escaped: String {
        // Nothing but points would be a way up.
        guard utf8.contains(where: { $0 != UInt8(ascii: ".") }) else {
            return String(repeating: "%2E", count: utf8.count)
        }
        var text = ""
        for byte in utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }
        return text
    }
}
