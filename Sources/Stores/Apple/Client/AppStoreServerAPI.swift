package import Encodings
package import Entitlements

/// The App Store Server API: what the App Store knows
/// (developer.apple.com/documentation/appstoreserverapi).
///
/// Its answers are as `import --format app-store` takes them; what is signed in them is their evidence.
package final class AppStoreServerAPI: Sendable {
    private let access: AppStoreAccess
    /// The apps, in one order, so that a ledger asks alike each time.
    package let bundleIDs: [String]
    private let caller: StoreCaller
    private let clock: @Sendable () -> Instant

    /// The App Store's own addresses.
    package static let productionURL = "https://api.storekit.apple.com"
    package static let sandboxURL = "https://api.storekit-sandbox.apple.com"

    /// Asks by a key, for the apps that a ledger serves.
    package init(
        _ access: AppStoreAccess,
        bundleIDs: some Sequence<String>,
        caller: StoreCaller,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.access = access
        self.bundleIDs = bundleIDs.sorted { $0.precedes($1) }
        self.caller = caller
        self.clock = clock
    }

    /// When it may be asked again about an environment; nil: now.
    package func heldUntil(in environment: StoreEnvironment) -> Instant? {
        caller.heldUntil(at: address(environment))
    }

    /// What the Apple Account that made a transaction ever bought of the app, refunds included.
    ///
    /// `transactionID`: any one of the account's. Cost: a question for each 20 transactions.
    package func history(
        of transactionID: String,
        in environment: StoreEnvironment
    ) -> StorePages {
        transactions("/inApps/v2/history/" + transactionID.pathSegment, environment)
    }

    /// What the Apple Account that made a transaction was given back for
    /// (developer.apple.com/documentation/appstoreserverapi/get-refund-history).
    ///
    /// `transactionID`: any one of the account's. Cost: a question for each 20 transactions, of which the
    /// App Store allows a fifth as many as of others.
    package func refunds(
        of transactionID: String,
        in environment: StoreEnvironment
    ) -> StorePages {
        transactions("/inApps/v2/refund/lookup/" + transactionID.pathSegment, environment)
    }

    /// A list of transactions whose answers tell the revision that they reach.
    private func transactions(_ path: String, _ environment: StoreEnvironment) -> StorePages {
        StorePages(continuedAt: Self.place(Self.revision)) { [self] last in
            do throws(StoreFault) {
                let revision = last?[Self.revision]?.string.map { "?revision=" + $0.pathSegment }
                let page = path + (revision ?? "")
                // What was given back does not say of which app it is.
                guard let bundleID = last?["bundleId"]?.string else {
                    return .success(try await ofAnyApp(page, environment))
                }
                return .success(try await ask(.get, page, nil, environment, bundleID))
            } catch {
                return .failure(error)
            }
        }
    }

    /// How the subscriptions of the Apple Account that made a transaction stand.
    ///
    /// `transactionID`: any one of the account's.
    package func statuses(
        of transactionID: String,
        in environment: StoreEnvironment
    ) async throws(StoreFault) -> JSONValue {
        try await ofAnyApp("/inApps/v1/subscriptions/" + transactionID.pathSegment, environment)
    }

    /// One transaction as it stands now.
    package func transaction(
        _ transactionID: String,
        in environment: StoreEnvironment
    ) async throws(StoreFault) -> JSONValue {
        try await ofAnyApp("/inApps/v1/transactions/" + transactionID.pathSegment, environment)
    }

    /// The notifications about an app that the App Store sent, or tried to send, in a stretch of time:
    /// the way back for those that were lost.
    ///
    /// `stretch`: within 180 days of now, 30 in the sandbox
    /// (developer.apple.com/documentation/appstoreserverapi/get-notification-history).
    package func notifications(
        in stretch: Range<Instant>,
        about bundleID: String,
        in environment: StoreEnvironment
    ) -> StorePages {
        let path = "/inApps/v1/notifications/history"
        let asked = JSONValue.members([
            "startDate": .integer(stretch.lowerBound.milliseconds),
            // Its own ends belong to it, both.
            "endDate": .integer(stretch.upperBound.milliseconds - 1),
        ])
        return StorePages(continuedAt: Self.place(Self.token)) { [self] last in
            let token = last?[Self.token]?.string.map { "?paginationToken=" + $0.pathSegment }
            do throws(StoreFault) {
                return .success(
                    try await ask(.post, path + (token ?? ""), asked, environment, bundleID)
                )
            } catch {
                return .failure(error)
            }
        }
    }

    /// Where the next page begins, by the member that says so.
    private static func place(_ name: String) -> (JSONValue) -> StorePages.Place {
        { page in
            guard page["hasMore"]?.bool == true else { return .over }
            return page[name]?.string.map { .at($0) } ?? .unsaid
        }
    }

    private static let revision = "revision"
    private static let token = "paginationToken"

    /// Asks for one app after the other until one has what is asked for: an id does not tell whose it is.
    ///
    /// In production it answers about no app that was never released there
    /// (github.com/apple/app-store-server-library-python/issues/51): that says nothing of the others.
    func ofAnyApp(
        _ path: String,
        _ environment: StoreEnvironment,
        putting body: JSONValue? = nil
    ) async throws(StoreFault) -> JSONValue {
        let method = body == nil ? StoreRequest.Method.get : .put
        var fault = StoreFault(.notFound)
        for bundleID in bundleIDs {
            do throws(StoreFault) {
                return try await ask(method, path, body, environment, bundleID)
            } catch  where error.code == .notFound || error.code == .notPermitted {
                // Who was not let ask does not know that there is nothing.
                if fault.code != .notPermitted { fault = error }
            }
        }
        throw fault
    }

    // MARK: One question

    func ask(
        _ method: StoreRequest.Method,
        _ path: String,
        _ body: JSONValue?,
        _ environment: StoreEnvironment,
        _ bundleID: String
    ) async throws(StoreFault) -> JSONValue {
        // What cannot sign for us is a key that asks nothing.
        guard let token = try? access.token(bundleID: bundleID, at: clock()) else {
            throw StoreFault(.notPermitted)
        }
        var request = StoreRequest(
            method,
            address(environment) + path,
            headers: ["Authorization": "Bearer " + token]
        )
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = Array(body.description.utf8)
        }
        let response: StoreResponse
        do throws(StoreFault) {
            response = try await caller.send(
                request,
                spacing: spacing(of: path, environment),
                isAtFault: Self.isAtFault
            )
        } catch  where error.status == 403 && path.hasPrefix(Self.extensionPath) {
            // Who may not ask is told 401: this subscription is none whose date it moves
            // (developer.apple.com/documentation/appstoreserverapi/error-codes).
            throw StoreFault(.rejected, status: error.status)
        }
        // That consumption was taken is said by its status alone.
        if response.body.isEmpty, method == .put { return .object([]) }
        guard let json = try? JSONValue(parsingStoreText: response.body), json.members != nil else {
            throw StoreFault(.malformed, status: response.status)
        }
        return json
    }

    /// Milliseconds that the App Store allows for a question on average, 50 a second of most kinds, which
    /// are counted here as one kind (developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits).
    ///
    /// 0: another address has a pace of its own.
    private func spacing(of path: String, _ environment: StoreEnvironment) -> Int64 {
        guard access.apiURL == nil else { return 0 }
        let inProduction: Int64 =
            if path.hasPrefix("/inApps/v2/refund/") {
                100
            } else if path.hasPrefix(Self.extensionPath) {
                50
            } else if path.hasPrefix(Self.testPath) {
                1000
            } else {
                20
            }
        // Fits: ten seconds.
        return environment == .sandbox ? 10 * inProduction : inProduction
    }

    private func address(_ environment: StoreEnvironment) -> String {
        if let apiURL = access.apiURL { return apiURL }
        return environment == .sandbox ? Self.sandboxURL : Self.productionURL
    }

    /// Whether it says that the same question may be answered later
    /// (developer.apple.com/documentation/appstoreserverapi/error-codes).
    private static func isAtFault(_ response: StoreResponse) -> Bool {
        // Whatever it is that is not JSON, it names no code.
        let json = try? JSONValue(parsing: response.body)
        return json?["errorCode"]?.integer.map { retryableCodes.contains($0) } ?? false
    }

    /// Account, app, and original transaction that are not found for now; an error of its own.
    private static let retryableCodes: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]
}
