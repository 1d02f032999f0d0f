import LedgerAPI
import Presentation
import Testing

/// The machines of a cluster, for people.
struct `A page of machines` {
    private static func standing(leader: String?) -> ClusterStandingAnswer {
        func node(_ name: String, lag: UInt64, seen: UInt64) -> ClusterNodeAnswer {
            ClusterNodeAnswer(
                node: name,
                address: "https://\(name).example",
                sequence: 5000 - lag,
                lag: lag,
                generation: 7,
                seenSecondsAgo: seen
            )
        }
        return ClusterStandingAnswer(
            node: "b",
            isLeading: false,
            term: 41,
            leader: leader,
            leaderAddress: leader.map { "https://\($0).example" },
            sequence: 5000,
            lag: 0,
            generation: 7,
            contactMilliseconds: 2500,
            fault: leader == nil ? "unavailable" : nil,
            nodes: [
                node("a", lag: 0, seen: 0), node("b", lag: 12, seen: 1),
                node("<b>c</b>", lag: 4000, seen: 90),
            ]
        )
    }

    private static func text(
        _ standing: ClusterStandingAnswer?,
        in language: Language = .english
    ) -> String {
        var page = XMLText()
        NodesPage(language: language, standing: standing).write(to: &page)
        return page.text
    }

    @Test func `says who leads, how far each is, and who was not heard of`() {
        let page = Self.text(Self.standing(leader: "a"))
        for words in ["41", "5,000", "2 s ago", "90 s ago", "1,000", "4,000", "https://a.example"] {
            #expect(page.contains(words), "\(words)")
        }
        // One leads; one is far behind and silent.
        #expect(page.components(of: ">Leader<") == 2)
        #expect(page.contains("&lt;b&gt;c") && !page.contains("<b>c"))
        #expect(page.components(of: "chip bad") == 1 && page.components(of: "chip warn") == 1)
        let alone = Self.text(Self.standing(leader: nil))
        #expect(alone.contains("nobody") && alone.contains("unavailable"))
        #expect(alone.components(of: "chip bad") == 3)
    }

    @Test(arguments: Language.allCases)
    func `says that a ledger stands on one machine`(_ language: Language) {
        let alone = Self.text(nil, in: language)
        let one: [Language: String] = [
            .english: "on one machine", .japanese: "1台のマシン", .traditionalChinese: "一台機器",
        ]
        #expect(alone.contains(one[language] ?? "?"))
        #expect(!alone.contains("<table") && !Self.text(Self.standing(leader: "a")).contains(alone))
    }
}

extension String {
    /// How often a text stands in it.
    fileprivate func components(of part: String) -> Int { split(separator: part).count - 1 }
}
