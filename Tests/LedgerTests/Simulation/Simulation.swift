import Encodings
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport

@testable import EntitlementLedger

/// One schedule of callers, faults, crashes and reopenings, drawn from a seed: the same seed plays
/// the same again.
///
/// Everything runs on one thread. Where the engine calls its storage, another caller may go first, a
/// reader may ask, or the process may die.
actor Simulation {
    let seed: UInt64
    let folder: String
    let disk: SimulatedDisk
    let clock = TestClock(Sample.newYear)
    var random: SplitMix64
    var calls: SimulatedCalls
    /// What callers were told, and what is still to be found in the log.
    var witness = SimulatedWitness()
    /// What happened, a line each: two plays of a seed have the same.
    private(set) var trace: [String] = []
    /// Group members that are sealed and wait to be handed in.
    var waiting: [(call: SimulatedCalls.Call, sealed: SealedSubmission)] = []
    private(set) var ledger: Ledger
    private var vault: SimulatedVault
    private var viewsPath: String
    private var boot = 0
    private var opened = 0
    /// How many callers are under way, one inside another.
    private var depth = 0
    private var isChecking = false

    static let stepCount = 28
    private static let depthLimit = 3
    private static let identity = LedgerIdentity(
        id: (0..<16).map { UInt8($0) },
        origin: "ledger.test/log"
    )

    init(seed: UInt64, folder: String, defect: SimulatedDefect? = nil) throws {
        self.seed = seed
        self.folder = folder
        random = SplitMix64(seed: seed)
        disk = SimulatedDisk(defect: defect)
        calls = SimulatedCalls(seed: seed)
        viewsPath = folder + "/views-0"
        (ledger, vault) = try Self.open(disk, seed, 0, clock, viewsPath, boot: 0)
    }

    /// Plays to the end; an invariant that does not hold is thrown.
    func play() throws {
        disk.onCall { [self] call in try assumeIsolated { try $0.meet(call) } }
        defer { disk.onCall(nil) }
        try run(calls.first())
        for _ in 0..<Self.stepCount { try untilAlive(step) }
        try settle()
        try close()
        let left = disk.log.newStreams(from: 0)
        guard left.isEmpty else {
            throw SimulationFailure("\(left.count) new streams are left in a log that was closed")
        }
        try open()
        try check()
        try close()
    }

    /// The first commit fails, and the process dies as the engine looks whether it stands.
    func playDeathBehindFault() throws {
        disk.onCall { [self] call in try assumeIsolated { try $0.dieAtReadBehindFault(call) } }
        defer { disk.onCall(nil) }
        disk.arm(.logUnknownStands)
        try untilAlive { try run(calls.first()) }
        try close()
    }

    private func dieAtReadBehindFault(_ call: SimulatedCall) throws {
        guard depth > 0, case .read = call, !disk.isArmed else { return }
        note("dies at \(call)")
        disk.crash()
        throw SimulatedCrash()
    }

    /// Where the engine was telling of a fault as it died, nobody was told of the death.
    private func untilAlive(_ step: () throws -> Void) throws {
        try step()
        if disk.isDown { try recover() }
    }

    func note(_ line: String) { trace.append(line) }

    // MARK: Steps

    private func step() throws {
        switch random.next() % 100 {
        case 0..<38: try run(calls.next(&random, now: clock.now))
        case 38..<42: try takeOver()
        case 42..<60: try prepare(calls.next(&random, now: clock.now))
        case 60..<70: try handIn()
        case 70..<76: try repeatEarlier()
        case 76..<82: armFault()
        case 82..<90: turnClock()
        case 90..<94: try die()
        case 94..<97: try closeAndOpen()
        default: try check()
        }
    }

    /// The vault takes over what waits in the log, as far as its disk lets it.
    private func takeOver() throws {
        depth += 1
        defer { depth -= 1 }
        do {
            try vault.takeOver()
            note("taken over")
        } catch let fault as LogStorageFault {
            note("not taken over: \(fault.code)")
        } catch is SimulatedCrash {
            try recover()
        }
    }

    private func armFault() {
        let fault = random.pick(SimulatedFault.allCases)
        disk.arm(fault)
        note("\(fault) is next")
    }

    private func turnClock() {
        let hour: Int64 = 3_600_000
        let by = random.pick([1, 1000, hour, 24 * hour, -1, -60_000, -299_000, -hour])
        clock.now = clock.now.advanced(byMilliseconds: by)
        note("clock \(by)")
    }

    /// Hands a call in; what it is told, or that it was not told, is kept.
    func run(_ call: SimulatedCalls.Call) throws {
        depth += 1
        defer { depth -= 1 }
        witness.willCall(call)
        let ledger = ledger
        do {
            let receipt = try call.body(ledger)
            note("\(call.id) \(receipt)")
            try witness.wasTold(receipt, call)
        } catch {
            try wereNotTold([call], error)
        }
    }

    /// Seals a call as one of a group; others come between sealing and handing in.
    private func prepare(_ call: SimulatedCalls.Call) throws {
        guard let seal = call.seal else { return try run(call) }
        witness.willCall(call)
        depth += 1
        defer { depth -= 1 }
        do {
            guard var sealed = try seal(ledger) else { return }
            if disk.defect == .overlooksOvertaking { sealed = sealed.withoutExpectations }
            waiting.append((call, sealed))
            note("\(call.id) waits")
        } catch {
            try wereNotTold([call], error)
        }
    }

    /// Hands in those that wait as one group; who was overtaken decides again.
    private func handIn() throws {
        let group = waiting
        waiting = []
        guard !group.isEmpty else { return }
        depth += 1
        defer { depth -= 1 }
        do {
            let outcomes = try ledger.appender.writer.append(group.map(\.sealed))
            for ((call, sealed), outcome) in zip(group, outcomes) {
                note("\(call.id) \(outcome)")
                switch outcome {
                case .appended(let first, _):
                    try witness.wasTold(.appended(first: first, count: sealed.records.count), call)
                case .duplicate(let first): try witness.wasTold(.duplicate(of: first), call)
                default: try run(call)
                }
            }
        } catch {
            try wereNotTold(group.map(\.call), error)
        }
    }

    /// Callers that met a fault or died with the process.
    private func wereNotTold(_ calls: [SimulatedCalls.Call], _ error: any Error) throws {
        note(calls.map(\.id).joined(separator: ", ") + " \(error)")
        func keep(maybeStands: Bool) {
            for call in calls { witness.wasNotTold(call, maybeStands: maybeStands) }
        }
        switch error {
        case let fault as LogStorageFault:
            keep(maybeStands: fault.code == .outcomeUnknown || disk.isDown)
        case let fault as LedgerFault where fault.code == .clockBehind:
            keep(maybeStands: false)
            clock.now = clock.now.advanced(byMilliseconds: 3_600_000)
        case is SimulatedCrash:
            keep(maybeStands: true)
            // Whoever it went before finds the process dead as well; the first one starts anew.
            guard depth == 1 else { throw error }
            try recover()
        default: throw error
        }
    }

    /// E1: what is delivered again has its first outcome.
    private func repeatEarlier() throws {
        guard let call = calls.made.randomElement(using: &random) else { return }
        try run(call)
    }

    /// Every caller that was not told tries again, without faults, until it is.
    private func settle() throws {
        disk.arm(nil)
        try handIn()
        for call in calls.made where witness.isWaiting(call) { try run(call) }
        try check()
    }

    // MARK: What happens at a call of the engine

    private func meet(_ call: SimulatedCall) throws {
        guard depth > 0, !isChecking else { return }
        if random.chance(1) {
            note("dies at \(call)")
            disk.crash()
            throw SimulatedCrash()
        }
        if case .read = call, random.chance(1) {
            note("unreadable")
            throw LogStorageFault(.unreadable, "the disk does not answer")
        }
        if random.chance(3) { try ask() }
        // Who has the writer cannot be overtaken; everybody else can.
        if case .read = call, depth < Self.depthLimit, try !ledger.appender.writer.isWithCaller,
            random.chance(6)
        {
            let next = calls.next(&random, now: clock.now)
            note("overtaken by \(next.id)")
            try run(next)
        }
    }

    // MARK: Processes

    private func die() throws {
        disk.crash()
        note("kill")
        try recover()
    }

    /// A new process on what the disk holds; the dead one's views stand as they were left, or an
    /// unclean stop of the machine puts them in doubt.
    private func recover() throws {
        waiting = []
        opened += 1
        let next = folder + "/views-\(opened)"
        if random.chance(80) {
            try FileManager.default.copyItem(atPath: viewsPath, toPath: next)
        }
        viewsPath = next
        if random.chance(40) { boot += 1 }
        try open()
        try check()
    }

    private func closeAndOpen() throws {
        waiting = []
        // What may go wrong as it draws in goes wrong here, but for new streams that nobody was told of.
        try takeOver()
        do {
            try close()
        } catch let error where error is SimulatedCrash || error is LogStorageFault {
            note("not closed: \(error)")
            if !disk.isDown { disk.crash() }
            return try recover()
        }
        note("closed")
        try open()
    }

    private func close() throws {
        isChecking = true
        defer { isChecking = false }
        try vault.drawIn()
        try ledger.close()
    }

    private func open() throws {
        isChecking = true
        defer { isChecking = false }
        (ledger, vault) = try Self.open(disk, seed, random.next(), clock, viewsPath, boot: boot)
    }

    private static func open(
        _ disk: SimulatedDisk,
        _ seed: UInt64,
        _ word: UInt64,
        _ clock: TestClock,
        _ viewsPath: String,
        boot: Int
    ) throws -> (Ledger, SimulatedVault) {
        try FileManager.default.createDirectory(
            atPath: viewsPath,
            withIntermediateDirectories: true
        )
        let process = disk.startProcess()
        let randomness = RandomSource(seed: seed ^ word)
        let log = SimulatedLog(disk, process: process)
        let vault = try SimulatedVault(
            disk,
            log,
            process: process,
            secrets: RandomSource(seed: seed),
            randomness: randomness
        )
        let ledger = try Ledger(
            identity: identity,
            log: log,
            vault: vault,
            options: Ledger.Options(
                viewsPath: viewsPath,
                bootID: "boot \(boot)",
                isReadOnly: false,
                clock: { clock.now },
                randomness: randomness
            )
        )
        return (ledger, vault)
    }

    // MARK: Looking

    /// A reader asks; what it is told is compared once the log is read.
    private func ask() throws {
        isChecking = true
        defer { isChecking = false }
        let customer = random.pick(SimulatedCalls.customers)
        let at = clock.now.advanced(byMilliseconds: random.pick([0, 0, -3_600_000, 86_400_000]))
        let point = BitemporalPoint(at: at, knownAt: .everything)
        let question = CustomerQuestion(
            customer: customer,
            environment: .production,
            point: point
        )
        witness.wasAnswered(try ledger.questions.show(question).json, question)
    }

    /// Reads the whole log and holds everything that was said against it.
    func check() throws {
        isChecking = true
        defer { isChecking = false }
        let size = try ledger.questions.size()
        var log: [RecordedEvent] = []
        for sequence in 0..<size {
            guard let event = try ledger.questions.event(at: sequence) else {
                throw SimulationFailure("record \(sequence) cannot be opened")
            }
            log.append(event)
        }
        note("\(size) events")
        try witness.check(log)
        let audit = try ledger.auditor.audit()
        guard audit.faults.isEmpty else {
            throw SimulationFailure("the audit finds \(audit.faults)")
        }
        try ask()
        try witness.checkAnswers(log)
    }
}

extension SealedSubmission {
    /// As if nobody could overtake it.
    fileprivate var withoutExpectations: SealedSubmission {
        SealedSubmission(
            records: records,
            attached: attached,
            evidenceStreams: evidenceStreams,
            sharedParts: sharedParts,
            request: request,
            isRequest: isRequest,
            recordedAt: recordedAt
        )
    }
}
