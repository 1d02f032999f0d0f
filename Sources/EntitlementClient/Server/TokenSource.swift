import Entitlements

/// The customer's tokens, from the app's own backend, which may take long or never answer.
///
/// Many who ask at once share an answer. Nobody waits for one longer than a time: the backend then
/// counts as not reached, and whoever asks later waits for the same answer again, so that what hangs
/// hangs once.
actor TokenSource {
    private let time: ClientTime
    private let fetch: @Sendable () async throws -> String
    private var fetching: Task<Void, Never>?
    private var waiters: [UInt64: CheckedContinuation<String, any Error>] = [:]
    private var next: UInt64 = 0
    /// Grows where what is under way is nobody's any more.
    private var generation: UInt64 = 0

    /// Milliseconds for which a token is waited for.
    static let patience: Int64 = 30_000

    /// Nobody gave one in time.
    struct Overdue: Error {}

    init(_ time: ClientTime, _ fetch: @escaping @Sendable () async throws -> String) {
        self.time = time
        self.fetch = fetch
    }

    /// A token.
    ///
    /// - Throws: `Overdue`, and what the app's backend throws.
    func token() async throws -> String {
        next &+= 1
        let number = next
        let end = time.now().advanced(byMilliseconds: Self.patience)
        let alarm = Task { [time] in
            // Called off where the token came first.
            guard (try? await time.sleep(end)) != nil else { return }
            self.answer(number, .failure(Overdue()))
        }
        defer { alarm.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            waiters[number] = continuation
            if fetching == nil { fetching = Task { await self.ask() } }
        }
    }

    /// What is under way is another customer's: nobody gets it.
    func forget() {
        generation &+= 1
        fetching = nil
        for number in waiters.keys { answer(number, .failure(Overdue())) }
    }

    private func ask() async {
        let asked = generation
        let result: Result<String, any Error>
        do { result = .success(try await fetch()) } catch { result = .failure(error) }
        guard asked == generation else { return }
        fetching = nil
        for number in waiters.keys { answer(number, result) }
    }

    private func answer(_ number: UInt64, _ result: Result<String, any Error>) {
        waiters.removeValue(forKey: number)?.resume(with: result)
    }
}
