// The heading of a group of settings.
import QtQuick
import Tandem.Controls
import Tandem.Theme

TextLabel {
    topPadding: 28
    bottomPadding: 4
    color: Theme.accentInk
    font.pixelSize: Theme.medium
    font.weight: Font.DemiBold
    Accessible.role: Accessible.Heading
}
