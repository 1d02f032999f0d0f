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

    /// When it may be asked again; nil: now.
    package var heldUntil: Instant? { caller.heldUntil }

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

    /// The token of the purchase that an order belongs to.
    package func token(
        ofOrder orderID: String,
        packageName: String
    ) async throws(StoreFault) -> String {
        let body = try await get(packageName, "orders/" + orderID.pathSegment)
        // What is read here was read by `get`.
        guard let token = (try? JSONValue(parsingStoreText: body))?["purchaseToken"]?.string else {
            throw StoreFault(.malformed)
        }
        return token
    }

    /// Tells Google that what was bought is given.
    ///
    /// Telling it again changes nothing.
    package func acknowledge(_ purchase: PlayAcknowledgement) async throws(StoreFault) {
        let kind = purchase.isSubscription ? "subscriptions" : "products"
        let url =
            address(purchase.packageName) + "purchases/\(kind)/\(purchase.productID.pathSegment)"
            + "/tokens/\(purchase.token.pathSegment):acknowledge"
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

    /// The orders of an app that were given back in a stretch of time: the way back for those of which
    /// nobody told; each answer as `import --format play` takes it.
    ///
    /// `stretch`: within 30 days of now
    /// (developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases/list).
    package func voidedPurchases(in stretch: Range<Instant>, packageName: String) -> StorePages {
        StorePages(continuedAt: { page in
            page["answer"]?[Self.pagination]?["nextPageToken"]?.string.map { .at($0) } ?? .over
        }) { [self] last in
            // Type 1: subscriptions too. Its own ends belong to it, both.
            var path =
                "purchases/voidedpurchases?type=1&startTime=\(stretch.lowerBound.milliseconds)"
                + "&endTime=\(stretch.upperBound.milliseconds - 1)"
            if let token = last?["answer"]?[Self.pagination]?["nextPageToken"]?.string {
                path += "&token=" + token.pathSegment
            }
            do throws(StoreFault) {
                let body = try await get(packageName, path)
                // What is read here was read by `get`.
                let answer = try? JSONValue(parsingStoreText: body)
                return .success(
                    .members([
                        "packageName": .string(packageName),
                        "answer": .members([
                            // Google leaves an empty list out (protobuf.dev/programming-guides/json).
                            Self.voided: answer?[Self.voided] ?? .array([]),
                            Self.pagination: answer?[Self.pagination] ?? .null,
                        ]),
                    ])
                )
            } catch {
                return .failure(error)
            }
        }
    }

    private static let voided = "voidedPurchases"
    private static let pagination = "tokenPagination"

    private static func subscriptionPath(_ token: String) -> String {
        "purchases/subscriptionsv2/tokens/" + token.pathSegment
    }

    private static func productPath(_ token: String) -> String {
        "purchases/productsv2/tokens/" + token.pathSegment
    }

    /// Asks below an app's address; the body is an object.
    func get(_ packageName: String, _ path: String) async throws(StoreFault) -> [UInt8] {
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
        "\(baseURL)/androidpublisher/v3/applications/\(packageName.pathSegment)/"
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
        } catch  where !error.isTransient {
            // What is wrong is the account, its key or the address: nothing that a store's message could mend,
            // and nothing that is said of a purchase (Stores, rule 10).
            throw StoreFault(.notPermitted, status: error.status)
        }
        let json = try? JSONValue(parsing: response.body)
        guard let token = json?["access_token"]?.string,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            // A page in its place says as little of a purchase.
            throw StoreFault(.unavailable, status: response.status)
        }
        let seconds = min(max(json?["expires_in"]?.integer ?? 0, 0), Self.longestLifetime)
        // Fits: a day at most.
        let endsAt = now.advanced(byMilliseconds: (seconds - Self.margin) * 1000)
        access.withLock { $0 = Access(token: token, endsAt: endsAt) }
        return token
    }

    private static let longestLifetime: Int64 = 86_400
    private static let margin: Int64 = 60
}
