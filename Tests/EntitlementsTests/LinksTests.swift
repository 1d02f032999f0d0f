import Entitlements
import Testing

/// C2, P13: several names of one customer or purchase.
struct `Links of names` {
    // Every sequence of up to four links among four names: 16 + 256 + 4 096 + 65 536 of them.
    @Test func `never close a circle, and an alias keeps its newest link that closes none`() {
        for length in 1...4 {
            var choice = Array(repeating: 0, count: length)
            repeat {
                let links = choice.map { (subject: UInt64($0 / 4), alias: UInt64($0 % 4)) }
                let names = Links(
                    links.enumerated().map { sequence, link in
                        var fact = Fact(
                            sequence: UInt64(sequence),
                            kind: .customerLinked,
                            time: Instant(milliseconds: 0),
                            observedAt: Instant(milliseconds: 0),
                            subject: link.subject
                        )
                        fact.other = link.alias
                        return fact
                    },
                    of: .customerLinked
                )
                let targets = Self.obvious(links)
                for name: UInt64 in 0..<4 {
                    var end = name
                    while let target = targets[end] { end = target }
                    guard names.canonical(name) == end else {
                        Issue.record(
                            "\(links): \(name) ends at \(names.canonical(name)), not \(end)"
                        )
                        return
                    }
                }
            } while Self.advance(&choice)
        }
    }

    /// The rule read literally: a link is set, and taken back if somebody then leads to themselves.
    private static func obvious(
        _ links: [(subject: UInt64, alias: UInt64)]
    ) -> [UInt64: UInt64] {
        var targets: [UInt64: UInt64] = [:]
        for link in links {
            var changed = targets
            changed[link.alias] = link.subject
            let isCircle = (0..<UInt64(4)).contains { name in
                var steps = 0
                var end = name
                while let target = changed[end], steps <= 4 {
                    end = target
                    steps += 1
                }
                return steps > 4
            }
            if !isCircle { targets = changed }
        }
        return targets
    }

    /// The next choice of links; false after the last.
    private static func advance(_ choice: inout [Int]) -> Bool {
        for index in choice.indices {
            choice[index] += 1
            if choice[index] < 16 { return true }
            choice[index] = 0
        }
        return false
    }
}
