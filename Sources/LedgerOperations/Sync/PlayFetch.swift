import Encodings
import Entitlements
import Stores

/// Fetches what is true of a purchase of Google Play.
struct PlayFetch: Sendable {
    private let playStore: StoreClients.PlayStore
    private let id: String
    private let now: Instant

    /// `id`: a purchase token, or an order of the purchase.
    init(_ playStore: StoreClients.PlayStore, of id: String, now: Instant) {
        self.playStore = playStore
        self.id = id
        self.now = now
    }

    /// What to ask by, among a purchase's names: its tokens, or where none is known, an order.
    static func ids(of names: [PurchaseName]) -> [String] {
        var met: Set<Name> = []
        let ids = names.filter { $0.store == Source.playStore }
            // One of several products is named by the token, and its own id behind it.
            .map { String($0.originalID.prefix { $0 != "/" }) }
            .filter { met.insert(Name($0)).inserted }
        let tokens = ids.filter { !isOrder($0) }
        return tokens.isEmpty ? Array(ids.prefix(1)) : tokens
    }

    /// Whether an id is an order's.
    static func isOrder(_ id: String) -> Bool { id.hasPrefix("GPA.") }

    /// Asks about each app until one has it, and acknowledges what is paid.
    ///
    /// `take`: gets what the answer comes to; `isAwaited`: Google is told once that is on the disk (Stores, rule 3).
    ///
    /// - Returns: why Google Play did not tell, or takes no acknowledgement; nil: it did.
    func run(
        _ take: (_ submission: Submission, _ isAwaited: Bool) async throws -> Void
    ) async throws -> StoreFault? {
        do {
            let facts = try await facts()
            try await take(facts.submission, facts.acknowledgement != nil)
            guard let purchase = facts.acknowledgement else { return nil }
            try await playStore.api.acknowledge(purchase)
            try await take(purchase.submission(at: now), false)
            return nil
        } catch let fault as StoreFault {
            return fault
        }
    }

    /// What is true, of whichever app has it: an id does not tell whose it is.
    func facts() async throws(StoreFault) -> PlayFacts {
        var fault = StoreFault(.notFound)
        for packageName in playStore.configuration.packageNames.sorted() {
            do throws(StoreFault) {
                return try await facts(packageName.description)
            } catch {
                fault = error
                guard error.isOfUnknown else { throw error }
            }
        }
        throw fault
    }

    private func facts(_ packageName: String) async throws(StoreFault) -> PlayFacts {
        let api = playStore.api
        let token =
            Self.isOrder(id) ? try await api.token(ofOrder: id, packageName: packageName) : id
        let facts = PlayMapping.facts(
            ofAnswer: try await api.answer(of: token, packageName: packageName),
            packageNames: playStore.configuration.packageNames,
            now: now
        )
        guard case .success(let facts) = facts else { throw StoreFault(.malformed) }
        return facts
    }
}

extension StoreFault {
    /// Whether Google knows nothing of an id, or no more: it is none of its own.
    var isOfUnknown: Bool { code == .notFound || code == .rejected }
}
