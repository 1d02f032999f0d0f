import Encodings
import LedgerAPI
import LedgerOperations
import Presentation

/// The machines of a cluster, for people: what `GET /v1/cluster` tells.
extension PageTable {
    static let nodePages: [Route] = [
        .page(
            "/console/nodes",
            "showNodesPage",
            "The machines of the cluster, who leads, and how far each is.",
            [.read, .support, .audit],
            nodes
        )
    ]

    @Sendable
    private static func nodes(_ call: Call, _ service: LedgerService) async throws -> Page {
        let standing = try service.cluster.map { ClusterStandingAnswer(try $0.standing()) }
        var body = XMLText()
        NodesPage(language: call.language, standing: standing).write(to: &body)
        let json = JSONValue.members([
            "cluster": standing?.jsonValue ?? .null
        ])
        return Page(
            title: NodesPage.title(in: call.language),
            section: .health,
            body: body,
            json: Array(json.description.utf8),
            rows: Page.Rows(
                columns: ClusterNodeAnswer.columns,
                cells: (standing?.nodes ?? []).map(\.cells)
            ),
            size: standing?.sequence
        )
    }
}
