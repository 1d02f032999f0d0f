import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI

/// Notices that a customer's flags are others now, as Server-Sent Events (OpenFeature remote evaluation 0.3.0,
/// `refetchEvaluation`): whoever follows asks for the flags again (row Z8).
///
/// A change by time alone is told within a second of its instant, one by an event within ``interval`` of it.
actor FlagChanges {
    private let service: LedgerService
    private let ticket: CustomerTicket
    private var growth: AsyncStream<Void>.Iterator
    /// The digest of the flags that the reader knows.
    private var known: String
    /// The flags at the last look; nil: there was none.
    private var seen: CachedAccess?
    private var stage = Stage.begins
    private var lastSent = ContinuousClock.now
    private let silence: Duration

    private enum Stage { case begins, runs, over }

    /// How long it rests between two looks: ten thousand who wait cost a fraction of a core then, however fast
    /// the log grows.
    static let interval = Duration.milliseconds(250)

    /// `known`: the digest of the flags that the reader has; they are told at once if theirs are others.
    init(
        _ service: LedgerService,
        _ ticket: CustomerTicket,
        known: String,
        silence: Duration = ServerSentEvents.silence
    ) {
        self.service = service
        self.ticket = ticket
        self.known = known
        self.silence = silence
        // Before the first look: what is appended between is not missed.
        growth = service.growth.follow().makeAsyncIterator()
    }

    /// The next piece of the stream; nil: it is over.
    func next() async throws -> String? {
        switch stage {
        case .begins:
            stage = .runs
            return ServerSentEvents.beginning
        case .over: return nil
        case .runs: break
        }
        while true {
            let now = service.clock()
            guard ticket.stands([.read], in: service, at: now) else { return lastNotice() }
            let digest = try await digest(at: now)
            if digest != known {
                known = digest
                let tag = Answer.weakTag(Flags.tag(digest, at: now))
                return sent(ServerSentEvents.event(id: digest, Self.notice(tag)))
            }
            if lastSent.duration(to: .now) >= silence { return sent(ServerSentEvents.comment) }
            guard await waits() else {
                stage = .over
                return ServerSentEvents.goodBye
            }
        }
    }

    /// A ticket is over: who asks for the flags again, as they are told to, is given another one.
    private func lastNotice() -> String {
        stage = .over
        return ServerSentEvents.event(id: known, Self.notice(nil)) + ServerSentEvents.goodBye
    }

    private static func notice(_ tag: String?) -> String {
        var members = [JSONMember("type", "refetchEvaluation")]
        if let tag { members.append(JSONMember("etag", .string(tag))) }
        return JSONValue.object(members).description
    }

    private func digest(at now: Instant) async throws -> String {
        let access = try await service.access(ticket.customer, ticket.environment, at: now)
        // The same flags as a look before are not written again.
        guard access !== seen else { return known }
        seen = access
        return Flags(access).digest
    }

    private func sent(_ text: String) -> String {
        lastSent = .now
        return text
    }

    /// Waits until the flags may be others; false: the server stops.
    private func waits() async -> Bool {
        var growth = growth
        defer { self.growth = growth }
        guard await growth.next(isolation: self) != nil else { return false }
        return await Self.interval.passes()
    }
}

extension CustomerTicket {
    /// How long one opens notices.
    static let noticeLifetime = Instant.millisecondsPerDay / 24

    /// Whether it opens something: its time runs, and the key that asked for it has one of some scopes yet.
    func stands(_ scopes: ScopeSet, in service: LedgerService, at now: Instant) -> Bool {
        now < end && (keyID.map { service.access.may(scopes, key: $0, at: now) } ?? true)
    }
}
