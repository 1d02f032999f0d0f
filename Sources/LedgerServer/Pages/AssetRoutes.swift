import HTTPTypes
import LedgerAPI
import Presentation

/// What pages load.
extension PageTable {
    static let assetRoutes = [
        Route(
            method: .get,
            template: "/assets/{file}",
            operation: "readPageAsset",
            summary: "The stylesheet or the script of pages; its name changes with its bytes.",
            access: .open,
            answers: [
                Route.Reply(status: 200, text: "The file", shape: .text, mediaType: "text/css")
            ],
            handler: { call, _ in
                guard let asset = PageAsset.all.first(where: { $0.name == call.path[.file] }) else {
                    throw Problem(.notFound)
                }
                var answer = Answer(bytes: asset.bytes, mediaType: asset.mediaType)
                answer.caching = .immutable(isPublic: true)
                return answer
            }
        )
    ]
}
