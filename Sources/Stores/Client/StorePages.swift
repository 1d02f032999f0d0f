package import Encodings

/// A list that a store hands out page by page, read as far as it is asked for.
package struct StorePages {
    /// Asks for the page behind another one; nil: for the first.
    private let ask: (_ last: JSONValue?) async -> Result<JSONValue, StoreFault>
    /// Where the page behind one begins.
    private let place: (_ page: JSONValue) -> Place
    private var last: JSONValue?
    private var count = 0

    /// Where the page behind another one begins.
    enum Place: Hashable {
        /// There is none.
        case over
        /// What it is asked by.
        case at(String)
        /// There is one, and nothing to ask by.
        case unsaid
    }

    /// Pages of one list that are read, of 20 entries each as a rule.
    package static let limit = 1000

    init(
        continuedAt place: @escaping (_ page: JSONValue) -> Place,
        _ ask: @escaping (_ last: JSONValue?) async -> Result<JSONValue, StoreFault>
    ) {
        self.place = place
        self.ask = ask
    }

    /// Whether pages are left behind as many as are read: the list is to be asked for in parts.
    package var isTooLong: Bool {
        guard count == Self.limit, case .at? = last.map(place) else { return false }
        return true
    }

    /// The next page; nil: there is none.
    ///
    /// - Throws: `StoreFault`, `.malformed` where pages would never end: one names no next place, or the
    ///   one at which it stands itself, or there are more than ``limit``.
    package mutating func next() async throws(StoreFault) -> JSONValue? {
        let here = last.map(place)
        if here == .over { return nil }
        guard here != .unsaid, count < Self.limit else { throw StoreFault(.malformed) }
        let page = try await ask(last).get()
        if case .at = here, place(page) == here { throw StoreFault(.malformed) }
        last = page
        count += 1
        return page
    }
}
