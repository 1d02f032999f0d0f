import Encodings
import Entitlements

/// What accounts have bought as the App Store's API knows it: as it was told, and as it was asked to
/// change it.
struct KnownAppleAccounts: Sendable {
    /// As they stand.
    private(set) var all: [SimulatedAppleAccount] = []
    /// The place of the account that made a transaction, by its id.
    private var places: [Name: Int] = [:]
    /// Ends that were moved here: whoever tells of the accounts does not know of them.
    private var movedEnds: [SimulatedAppleAccount.MovedEnd] = []
    /// Transactions by their ids, each with the number of the change that made it what it is.
    private var versions: [Name: (payload: JSONValue, revision: Int)] = [:]
    /// Changes so far.
    private var revision = 0

    /// The account that made a transaction; nil: none did.
    func account(of transactionID: String) -> SimulatedAppleAccount? {
        places[Name(transactionID)].map { all[$0] }
    }

    /// What the accounts have bought from now on.
    mutating func set(_ accounts: [SimulatedAppleAccount]) {
        all = accounts
        let places = accounts.enumerated().flatMap { place, account in
            account.transactions.compactMap { payload in
                payload["transactionId"]?.string.map { (Name($0), place) }
            }
        }
        self.places = Dictionary(places) { first, _ in first }
        for moved in movedEnds { take(moved) }
        countChanges()
    }

    /// Moves the end of a subscription; returns where to; nil: there is no such subscription.
    mutating func extend(_ originalID: String, byDays days: Int64, at time: Instant) -> Instant? {
        guard let place = places[Name(originalID)],
            let found = all[place].subscription(originalID)
        else { return nil }
        // Fits: ninety days.
        let end = found.end.advanced(byMilliseconds: days * Instant.millisecondsPerDay)
        guard let moved = all[place].movedEnd(found.place, to: end, at: time) else { return nil }
        movedEnds.append(moved)
        take(moved)
        countChanges()
        return end
    }

    /// Those of an account's transactions that changed behind a revision, in the order in which they did.
    func changes(
        of transactions: [JSONValue],
        behind revision: Int
    ) -> [(payload: JSONValue, revision: Int)] {
        transactions.compactMap { $0["transactionId"]?.string.flatMap { versions[Name($0)] } }
            .filter { $0.revision > revision }.sorted { $0.revision < $1.revision }
    }

    private mutating func take(_ moved: SimulatedAppleAccount.MovedEnd) {
        if let place = places[Name(moved.period)] { all[place].take(moved) }
    }

    /// Numbers what is new or changed: whoever has read up to a number asks for what is behind it.
    private mutating func countChanges() {
        for payload in all.flatMap(\.transactions) {
            guard let id = payload["transactionId"]?.string, versions[Name(id)]?.payload != payload
            else { continue }
            revision += 1
            versions[Name(id)] = (payload, revision)
        }
    }
}
