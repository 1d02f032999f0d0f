package import LedgerAPI

/// The machines of a cluster, as one of them knows them: who leads, how far each is, and since when each was
/// not heard of (row Z9).
package struct NodesPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// How the machine that is asked stands; nil: the ledger stands on one machine.
    package var standing: ClusterStandingAnswer?

    /// Names what the page shows.
    package init(language: Language, standing: ClusterStandingAnswer?) {
        self.language = language
        self.standing = standing
    }

    /// The title of the page.
    package static func title(in language: Language) -> String { NodesWords.title[language] }

    /// Events behind which a machine is marked.
    private static let lagLimit: UInt64 = 1000
    /// Seconds after which one that said nothing is marked: it says something each second.
    private static let silenceLimit: UInt64 = 10

    /// Writes the page.
    package func write(to page: inout XMLText) {
        guard let standing else {
            return page.card(NodesWords.title[language]) { page in
                page.element("p", ["class": "quiet"]) { $0.write(NodesWords.alone[language]) }
            }
        }
        page.card(NodesWords.here[language], id: "here") { write(standing, to: &$0) }
        page.card(NodesWords.title[language], id: "nodes") { writeNodes(standing, to: &$0) }
    }

    private func write(_ standing: ClusterStandingAnswer, to page: inout XMLText) {
        let contact =
            standing.contactMilliseconds.map { ago($0 / 1000) } ?? NodesWords.never[language]
        page.pairs([
            (NodesWords.machine[language], .code(standing.node)),
            (
                NodesWords.leader[language],
                standing.leader.map { PageCell.code($0) }
                    ?? PageCell.words(NodesWords.nobody[language]).marked(.bad)
            ),
            (NodesWords.address[language], .code(standing.leaderAddress)),
            (NodesWords.term[language], .number(standing.term)),
            (HealthWords.events[language], .number(standing.sequence)),
            (NodesWords.lag[language], lag(standing.lag)),
            (NodesWords.contact[language], .words(contact)),
            (NodesWords.generation[language], .number(standing.generation)),
            (NodesWords.fault[language], PageCell.code(standing.fault).marked(.bad)),
        ])
    }

    private func writeNodes(_ standing: ClusterStandingAnswer, to page: inout XMLText) {
        page.rows(
            NodesWords.title[language],
            [
                PageColumn(NodesWords.machine[language]), PageColumn(NodesWords.role[language]),
                PageColumn(NodesWords.address[language]),
                .number(HealthWords.events[language]), .number(NodesWords.lag[language]),
                .number(NodesWords.generation[language]), PageColumn(NodesWords.seen[language]),
            ],
            standing.nodes.map { node in
                let seen = PageCell.words(ago(node.seenSecondsAgo))
                return [
                    .code(node.node),
                    node.node == standing.leader ? .words(NodesWords.leader[language]) : "",
                    .code(node.address), .number(node.sequence), lag(node.lag),
                    .number(node.generation),
                    node.seenSecondsAgo > Self.silenceLimit ? seen.marked(.bad) : seen,
                ]
            },
            empty: NodesWords.none[language]
        )
    }

    private func lag(_ events: UInt64) -> PageCell {
        let cell = PageCell.number(events)
        return events > Self.lagLimit ? cell.marked(.warn) : cell
    }

    private func ago(_ seconds: UInt64) -> String {
        NodesWords.ago.filled(language) { _ in NumberText.grouped(String(seconds)) }
    }
}

/// The words of the page of machines.
enum NodesWords {
    static let title = Sentence("Machines", "マシン", "機器")
    static let alone = Sentence(
        "This ledger stands on one machine.",
        "この台帳は1台のマシンで稼働しています。",
        "此帳本只在一台機器上運作。"
    )
    static let here = Sentence("The machine that is asked", "応答しているマシン", "回應的機器")
    static let machine = Sentence("Machine", "マシン", "機器")
    static let role = Sentence("Role", "役割", "角色")
    static let leader = Sentence("Leader", "リーダー", "領導者")
    static let nobody = Sentence("nobody", "不在", "無")
    static let address = Sentence("Address", "アドレス", "位址")
    static let term = Sentence("Term", "任期", "任期")
    static let lag = Sentence("Events behind", "遅れているイベント数", "落後事件數")
    static let contact = Sentence(
        "Heard of the database",
        "データベースとの最終通信",
        "上次連上資料庫"
    )
    static let never = Sentence("never", "なし", "從未")
    static let generation = Sentence("Generation of keys", "鍵の世代", "金鑰世代")
    static let fault = Sentence("Does not follow", "追従できない理由", "無法跟隨的原因")
    static let seen = Sentence("Seen", "最終確認", "上次出現")
    static let ago = Sentence("{seconds} s ago", "{seconds}秒前", "{seconds} 秒前")
    static let none = Sentence(
        "None was seen yet.",
        "まだ確認されていません。",
        "尚未看到任何機器。"
    )
}
