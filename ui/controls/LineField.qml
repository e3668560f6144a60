// One line of typed text.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.TextField {
    id: control

    required property string name
    property string hint
    property string iconName

    implicitWidth: 200
    implicitHeight: Math.max(34, contentHeight + 14)
    leftPadding: iconName.length > 0 ? 32 : 12
    rightPadding: 12
    verticalAlignment: TextInput.AlignVCenter
    color: Theme.text
    selectionColor: Theme.accentFill
    selectedTextColor: Theme.accentText
    selectByMouse: true
    font.family: Theme.family
    font.pixelSize: Theme.medium
    Accessible.name: name
    Accessible.role: Accessible.EditableText

    TextLabel {
        x: control.leftPadding
        width: control.width - control.leftPadding - control.rightPadding
        anchors.verticalCenter: parent.verticalCenter
        visible: control.length === 0 && control.preeditText.length === 0
        text: control.hint
        color: Theme.faint
        font.pixelSize: control.font.pixelSize
        elide: Text.ElideRight
        Accessible.ignored: true
    }
    Icon {
        x: 10
        anchors.verticalCenter: parent.verticalCenter
        visible: control.iconName.length > 0
        width: 15
        height: 15
        name: control.iconName
        color: Theme.faint
    }
    background: Rectangle {
        radius: 8
        color: Theme.window
        border.width: control.activeFocus ? 2 : 1
        border.color: control.activeFocus ? Theme.focus : Theme.line
    }
}
