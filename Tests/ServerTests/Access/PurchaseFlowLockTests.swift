import Encodings
import Entitlements
import ModelSupport
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

struct `One purchase flow at a time` {
    private static let end = noon.plus(seconds: 600)

    private static func begin(
        _ lock: PurchaseFlowLock,
        _ flow: String,
        _ customer: CustomerID = "ann",
        _ environment: StoreEnvironment = .production,
        at now: Instant = noon
    ) -> PurchaseFlowLock.Outcome {
        lock.begin(flow, of: [customer], in: environment, at: now)
    }

    // row 2.2
    @Test func `runs for a customer until it ends`() {
        let lock = PurchaseFlowLock()
        #expect(Self.begin(lock, "f1") == .began(until: Self.end))
        let later = noon.plus(seconds: 5)
        #expect(Self.begin(lock, "f1", at: later) == .sameFlow(until: Self.end))
        #expect(Self.begin(lock, "f2", at: later) == .busy(until: Self.end))
        #expect(!lock.end("f2", of: ["ann"], in: .production, at: later))
        #expect(Self.begin(lock, "f2", at: later) == .busy(until: Self.end))
        #expect(lock.end("f1", of: ["ann"], in: .production, at: later))
        #expect(!lock.end("f1", of: ["ann"], in: .production, at: later))
        #expect(Self.begin(lock, "f2", at: later) == .began(until: later.plus(seconds: 600)))
    }

    @Test func `expires`() {
        let lock = PurchaseFlowLock()
        #expect(Self.begin(lock, "f1") == .began(until: Self.end))
        let last = noon.advanced(byMilliseconds: 599_999)
        #expect(Self.begin(lock, "f2", at: last) == .busy(until: Self.end))
        #expect(Self.begin(lock, "f2", at: Self.end) == .began(until: noon.plus(seconds: 1200)))
        #expect(!lock.end("f1", of: ["ann"], in: .production, at: Self.end))
    }

    @Test func `is apart for customers and environments`() {
        let lock = PurchaseFlowLock()
        for customer in ["ann", "bob", "ren\u{E9}", "rene\u{301}"] as [CustomerID] {
            for environment in StoreEnvironment.allCases {
                #expect(
                    Self.begin(lock, "f", customer, environment) == .began(until: Self.end),
                    "\(customer) \(environment)"
                )
            }
        }
    }

    // row 2.2, C2
    @Test func `is one under all of a customer's names`() {
        let lock = PurchaseFlowLock()
        func begin(_ flow: String, _ names: [CustomerID]) -> PurchaseFlowLock.Outcome {
            lock.begin(flow, of: names, in: .production, at: noon)
        }
        #expect(begin("f1", ["anon", "ann"]) == .began(until: Self.end))
        #expect(begin("f2", ["ann", "anon"]) == .busy(until: Self.end))
        #expect(begin("f1", ["ann", "anon"]) == .sameFlow(until: Self.end))
        // The control: whose names are others is somebody else.
        #expect(begin("f2", ["ann"]) == .began(until: Self.end))
        // Both run where the link was made meanwhile, and each ends by itself.
        #expect(begin("f1", ["ann", "anon"]) == .sameFlow(until: Self.end))
        #expect(lock.end("f1", of: ["ann", "anon"], in: .production, at: noon))
        #expect(begin("f3", ["anon", "ann"]) == .busy(until: Self.end))
        #expect(lock.end("f2", of: ["anon", "ann"], in: .production, at: noon))
        #expect(begin("f3", ["anon", "ann"]) == .began(until: Self.end))
    }

    // row 2.2, C2: a server that begins anew
    @Test func `that the log says was ended under another name does not run on`() {
        func recorded(_ customer: CustomerID, isStart: Bool) -> RecordedFlow {
            RecordedFlow(
                isStart: isStart,
                flowID: "f1",
                customer: customer,
                environment: .production,
                recordedAt: noon
            )
        }
        let flows = [recorded("anon", isStart: true), recorded("ann", isStart: false)]
        for (names, outcome) in [
            (["ann", "anon"], .began(until: Self.end)), (["ann"], .busy(until: Self.end)),
        ] as [([CustomerID], PurchaseFlowLock.Outcome)] {
            let lock = PurchaseFlowLock()
            lock.goOn(from: flows) { _, _ in names }
            #expect(Self.begin(lock, "f2", "anon") == outcome, "\(names)")
        }
    }

    @Test func `is not held longer by a clock that was set back`() {
        let lock = PurchaseFlowLock()
        #expect(Self.begin(lock, "f1") == .began(until: Self.end))
        let before = noon.plus(seconds: -3600)
        #expect(Self.begin(lock, "f2", at: before) == .began(until: before.plus(seconds: 600)))
        for milliseconds in [Int64.min, .max] {
            let odd = Instant(milliseconds: milliseconds)
            #expect(Self.begin(lock, "f3", "odd", at: odd) != .full)
        }
    }

    @Test func `is refused when too many run, and never given up for another`() {
        let lock = PurchaseFlowLock(flowLimit: 10)
        for number in 0..<10 {
            #expect(Self.begin(lock, "f", "c\(number)") == .began(until: Self.end))
        }
        #expect(Self.begin(lock, "f", "late") == .full)
        for number in 0..<10 {
            #expect(Self.begin(lock, "g", "c\(number)") == .busy(until: Self.end))
        }
        #expect(lock.end("f", of: ["c3"], in: .production, at: noon))
        #expect(Self.begin(lock, "f", "late") == .began(until: Self.end))
        #expect(lock.flowCount <= 20)
    }

    @Test func `is forgotten after its time`() {
        let lock = PurchaseFlowLock()
        for number in 0..<100 { _ = Self.begin(lock, "f", "c\(number)") }
        #expect(lock.flowCount == 100)
        for step in 1...3 {
            _ = Self.begin(lock, "f", "other", at: noon.plus(seconds: Int64(step) * 600))
        }
        #expect(lock.flowCount <= 2)
    }

    // row 2.2, against a list of who runs what until when
    @Test(arguments: 0..<20)
    func `is what an obvious list says, whatever comes when`(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let lock = PurchaseFlowLock(timeToLiveMilliseconds: 1_000)
        var running: [CustomerID: (flow: String, until: Instant)] = [:]
        var now = noon
        var outcomes = Set<Int>()
        for _ in 0..<2_000 {
            now = now.advanced(byMilliseconds: Int64.random(in: 0...120, using: &random))
            let customer: CustomerID = "c\(Int.random(in: 0..<4, using: &random))"
            let flow = "f\(Int.random(in: 0..<3, using: &random))"
            let current = running[customer].flatMap { $0.until > now ? $0 : nil }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let ended = lock.end(flow, of: [customer], in: .production, at: now)
                #expect(ended == (current?.flow == flow), "seed \(seed)")
                if current?.flow == flow { running[customer] = nil }
                continue
            }
            let expected: PurchaseFlowLock.Outcome
            if let current {
                expected =
                    current.flow == flow
                    ? .sameFlow(until: current.until) : .busy(until: current.until)
                outcomes.insert(current.flow == flow ? 1 : 2)
            } else {
                let until = now.advanced(byMilliseconds: 1_000)
                expected = .began(until: until)
                running[customer] = (flow, until)
                outcomes.insert(0)
            }
            #expect(Self.begin(lock, flow, customer, at: now) == expected, "seed \(seed)")
        }
        #expect(outcomes == [0, 1, 2])
    }

    // row 2.2
    @Test func `is given to one of many who ask at once`() async {
        let lock = PurchaseFlowLock()
        for round in 0..<50 {
            let began = await withTaskGroup(of: Bool.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        Self.begin(lock, "flow \(task)", "c\(round)") == .began(until: Self.end)
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(began == 1)
        }
    }
}
