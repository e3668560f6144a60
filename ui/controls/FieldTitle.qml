// The name above a field of a form.
import QtQuick
import Tandem.Theme

TextLabel {
    topPadding: 10
    color: Theme.muted
    font.pixelSize: Theme.small
    font.weight: Font.Medium
}
