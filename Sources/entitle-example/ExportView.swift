#if canImport(SwiftUI)
import EntitlementClient
import SwiftUI

/// The same app on a screen: a feature, and the buttons that sell it.
struct ExportView: View {
    let shop: Shop
    @State private var access: ObservableEntitlements
    @State private var said = ""
    @State private var isAsking = false
    @State private var isBusy = false
    @Environment(\.scenePhase) private var phase

    init(_ shop: Shop) {
        self.shop = shop
        _access = State(initialValue: ObservableEntitlements(shop.service.store))
    }

    var body: some View {
        VStack {
            if access.isOpen("export") {
                Text("Exported.")
            } else {
                Button("Unlock") { isAsking = true }.disabled(isBusy)
                Button("Restore") { work { await shop.restore() } }.disabled(isBusy)
            }
            if isBusy { ProgressView() }
            Text(said)
        }
        .confirmationDialog("Unlock for a month?", isPresented: $isAsking) {
            Button("Buy") { work { await shop.buy("pro.month") { true } } }
        }
        .task { await access.follow() }
        .onChange(of: phase) {
            guard phase == .active else { return }
            Task { await shop.service.applicationDidBecomeActive() }
        }
    }

    private func work(_ body: @escaping @Sendable () async -> String) {
        isBusy = true
        Task {
            said = await body()
            isBusy = false
        }
    }
}
#endif
