import EntitlementLedger
import Entitlements
import LMDBStorage
import LedgerAPI

/// One step of a look through a log and through time, before it is kept.
struct NoticeLook {
    private let webhooks: Webhooks
    private let told: [Webhook]
    /// How far it came.
    var progress: DeliveryProgress
    /// When streams are to be looked at again that were looked at; nil: not any more.
    private var looks: [UInt64: DueLook?] = [:]
    private var notices: [Notice] = []
    /// Looks that were kept before and are due, in the order of time; the first ones.
    private var due: ArraySlice<DueLook> = []
    /// The event that was looked at last; nil: none was.
    private var last: Questions.EventMark?

    /// A look at everybody, at a catalog's instant: behind those at customers.
    static let everybody = UInt64.max

    private var questions: Questions { webhooks.ledger.questions }

    init(_ webhooks: Webhooks, _ told: [Webhook], _ progress: DeliveryProgress) {
        self.webhooks = webhooks
        self.told = told
        self.progress = progress
    }

    /// Whether nothing is to be kept but how far it came.
    var isEmpty: Bool { looks.isEmpty && notices.isEmpty }

    /// What became of a look at what time changes.
    enum TimePassed {
        /// All of it was looked at.
        case whole
        /// There is more.
        case inPart
        /// A catalog comes into force at an instant.
        case upToCatalog(Int64)
    }

    /// Looks at what time changes up to an instant, as the events tell that were looked at.
    ///
    /// `limit`: streams, at most.
    mutating func passTime(until instant: Int64, limit: Int) throws -> TimePassed {
        for _ in 0..<limit {
            guard let look = try next(upTo: instant) else {
                progress.instant = instant
                return .whole
            }
            progress.instant = max(progress.instant, look.instant)
            if look.stream == Self.everybody { return .upToCatalog(look.instant) }
            looks[look.stream] = .some(nil)
            guard let environment = StoreEnvironment(rawValue: look.environment),
                let outlook = try questions.accessOutlook(
                    of: look.stream,
                    in: environment,
                    at: Instant(milliseconds: look.instant),
                    size: progress.size
                )
            else { continue }
            take(outlook)
        }
        return .inPart
    }

    /// The stream that is due first by an instant.
    private mutating func next(upTo instant: Int64) throws -> DueLook? {
        // A stream that was looked at is due when that look said.
        while let first = due.first, looks[first.stream] != nil { due.removeFirst() }
        if due.isEmpty {
            // Those that were looked at stand there still.
            let limit = looks.count + Self.pageSize
            due = try webhooks.store.looks(upTo: instant, limit: limit)[...]
            while let first = due.first, looks[first.stream] != nil { due.removeFirst() }
        }
        let again = looks.values.lazy.compactMap(\.self).filter { $0.instant <= instant }
            .min { $0.comesBefore($1) }
        guard let first = due.first, first.instant <= instant else { return again }
        return again.map { $0.comesBefore(first) ? $0 : first } ?? first
    }

    private static let pageSize = 256

    /// Looks at an event.
    mutating func look(
        at mark: Questions.EventMark,
        _ sequence: UInt64,
        _ instant: Instant
    ) throws {
        let outlooks = try questions.accessOutlooks(after: sequence, mark, at: instant)
        // What is told of a purchase stands in one order with what is told of its owner.
        notice(Notice(mark, at: sequence, of: outlooks.first?.customer ?? mark.stream))
        // A signal's period stands before its verdict (P7): what it takes meanwhile is given back at once.
        let isVerdict = [.verificationPassed, .verificationFailed].contains(mark.kind)
        let isOfLast = mark.stream == last?.stream && mark.recordedAt == last?.recordedAt
        for outlook in outlooks { take(outlook, joining: isVerdict && isOfLast) }
        last = mark
        progress = DeliveryProgress(size: sequence + 1, instant: instant.milliseconds)
    }

    /// Notes what becomes of a customer.
    ///
    /// `joining`: whether it is told as one with what was told of them at this instant.
    private mutating func take(_ outlook: AccessOutlook, joining: Bool = false) {
        looks[outlook.customer] = outlook.look
        guard let change = outlook.change else { return }
        var notice = Notice(change, outlook)
        let earlier = notices.lastIndex {
            $0.change != nil && $0.stream == notice.stream && $0.at == notice.at
        }
        if joining, let earlier { notice.begin(with: notices.remove(at: earlier)) }
        if let change = notice.change, change.before != change.after { self.notice(notice) }
    }

    private mutating func notice(_ notice: Notice) { notices += [notice].wanted(by: told) }

    /// Keeps all of it, or nothing.
    func keep(at now: Instant) throws {
        try webhooks.store.note(
            progress,
            looks: looks.values.compactMap(\.self),
            done: looks.filter { $0.value == nil }.map(\.key),
            notices.map(\.bytes),
            at: now.milliseconds
        )
    }
}

extension DueLook {
    fileprivate func comesBefore(_ other: DueLook) -> Bool {
        (instant, stream) < (other.instant, other.stream)
    }
}

extension AccessOutlook {
    /// When the customer is to be looked at again; nil: not at all.
    var look: DueLook? {
        next.map { next in
            DueLook(
                instant: next.milliseconds,
                stream: customer,
                environment: environment.rawValue
            )
        }
    }
}
