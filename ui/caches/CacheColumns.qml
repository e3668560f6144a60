// The widths of the columns of figures; the least needed go where there is no room for all.
import QtQuick
import Tandem.Theme

QtObject {
    property real room: 0 // of the whole table

    readonly property real step: Theme.textScale
    readonly property real tokens: room > 520 * step ? 104 * step : 0
    readonly property real size: room > 610 * step ? 92 * step : 0
    readonly property real hits: room > 680 * step ? 60 * step : 0
    readonly property real age: room > 440 * step ? 72 * step : 0
    readonly property real state: 154 * step
    readonly property real actions: 76
    readonly property real figures: tokens + size + hits + age + state + actions
}
