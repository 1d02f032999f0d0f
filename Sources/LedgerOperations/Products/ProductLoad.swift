import Encodings
package import EntitlementLedger
package import Entitlements
package import LedgerAPI
import Stores

/// Loads what stores say of their products, and keeps it (rows 1.1, 1.3).
///
/// A load that fails does no harm: what was kept is kept, and why it failed stands beside it. An answer
/// without a product is such a failure (row 1.5).
package struct ProductLoad: Sendable {
    private let files: ProductFiles
    private let clock: @Sendable () -> Instant

    /// Names where products are kept, and who tells the time.
    package init(_ files: ProductFiles, clock: @escaping @Sendable () -> Instant) {
        self.files = files
        self.clock = clock
    }

    /// What came of a load of one source.
    package struct Outcome: Sendable {
        /// Who was asked.
        package var source: ProductSource
        /// Why nothing was loaded; nil: it was.
        package var fault: ProductFault?
    }

    /// Asks each store that can be asked, one after the other.
    ///
    /// `source`: only it; nil: all. `pool`: threads that may wait for the disk. Cost: a question for each page
    /// of each list, and for the App Store some for each product.
    ///
    /// - Throws: `FileFault`, `CocoaError` where the ledger's directory takes no files; `CancellationError`,
    ///   which notes nothing.
    package func load(
        _ clients: StoreClients,
        only source: ProductSource? = nil,
        pool: any BlockingPool
    ) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for asked in ProductSource.allCases where source == nil || source == asked {
            guard let answer = await Self.answer(of: asked, clients) else { continue }
            // Who stops asking learns nothing of the store.
            try Task.checkCancellation()
            outcomes.append(try await pool.run { [self] in try keep(answer, of: asked, .api) })
        }
        return outcomes
    }

    /// What a source tells; nil: it cannot be asked.
    private static func answer(
        of source: ProductSource,
        _ clients: StoreClients
    ) async -> Result<Told, Refused>? {
        switch source {
        case .appStore:
            guard let connect = clients.appStoreConnect else { return nil }
            return await ask { () throws(StoreFault) in Told(read: try await connect.products()) }
        case .playStore:
            guard let playStore = clients.playStore else { return nil }
            return await ask { () throws(StoreFault) in try await playStore.products() }
        case .revenueCat:
            guard let revenueCat = clients.revenueCat else { return nil }
            return await ask { () throws(StoreFault) in
                let told = try await revenueCat.products()
                return Told(read: told.read, offerings: told.offerings)
            }
        }
    }

    /// Takes the products of the App Store out of a StoreKit configuration of Xcode.
    ///
    /// - Throws: `FileFault`, `CocoaError` where the ledger's directory takes no files.
    package func load(storeKitFile bytes: [UInt8]) throws -> Outcome {
        let answer: Result<Told, Refused>
        do throws(InputFault) {
            answer = .success(Told(read: try StoreKitFile.products(in: bytes)))
        } catch {
            answer = .failure(Refused(code: .malformed, detail: error.detail))
        }
        return try keep(answer, of: .appStore, .storeKitFile)
    }

    // MARK: What is kept

    /// What a source told.
    struct Told: Sendable {
        var read: ReadProducts
        var offerings: [StoreOffering] = []
    }

    /// Why a source told nothing.
    struct Refused: Error {
        var code: ProductFault.Code
        var detail: String
    }

    /// Asks a source, once its answer is whole.
    private static func ask(
        _ body: () async throws(StoreFault) -> Told
    ) async -> Result<Told, Refused> {
        do throws(StoreFault) {
            return .success(try await body())
        } catch {
            let status = error.status.map { " (HTTP \($0))" } ?? ""
            return .failure(
                Refused(
                    code: ProductFault.Code(error),
                    detail: "the store did not tell its products" + status
                )
            )
        }
    }

    /// Keeps what a source told, or notes why it told nothing.
    private func keep(
        _ answer: Result<Told, Refused>,
        of source: ProductSource,
        _ origin: ProductDocument.Origin
    ) throws -> Outcome {
        let now = clock()
        let refused: Refused
        switch answer {
        case .failure(let why): refused = why
        case .success(let told) where told.read.products.isEmpty: refused = .empty(told.read)
        case .success(let told):
            let document = ProductDocument(
                source: source,
                origin: origin,
                loadedAt: now,
                passedOver: told.read.passedOver,
                products: told.read.products,
                offerings: told.offerings
            )
            if try files.keep(document) { return Outcome(source: source, fault: nil) }
            refused = .tooLarge
        }
        let fault = ProductFault(at: now, code: refused.code, detail: refused.detail)
        try files.note(fault, of: source)
        return Outcome(source: source, fault: fault)
    }
}

extension ProductLoad.Refused {
    /// Nobody's products are replaced by nothing.
    fileprivate static func empty(_ read: ReadProducts) -> Self {
        let detail =
            read.passedOver == 0
            ? "there is no product" : "none of \(read.passedOver) entries is a product for sale"
        return Self(code: .empty, detail: detail)
    }

    fileprivate static var tooLarge: Self {
        Self(code: .tooLarge, detail: "more than \(ProductFiles.byteLimit) bytes")
    }
}

extension StoreClients.PlayStore {
    /// What is sold of each app that is configured.
    fileprivate func products() async throws(StoreFault) -> ProductLoad.Told {
        var read = ReadProducts()
        for packageName in configuration.packageNames.sorted() {
            read.add(try await api.products(of: packageName.text))
        }
        return ProductLoad.Told(read: read)
    }
}

extension ProductFault.Code {
    /// Why a store's API gave no answer.
    fileprivate init(_ fault: StoreFault) {
        self =
            switch fault.code {
            case .unavailable: .unavailable
            case .rateLimited: .rateLimited
            case .resting: .resting
            case .notFound: .notFound
            case .notPermitted: .notPermitted
            case .rejected: .rejected
            case .malformed: .malformed
            }
    }
}
