// Asks before all files of the cache on disk are removed.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.Popup {
    id: prompt

    required property int files
    required property string amount

    signal confirmed

    anchors.centerIn: parent
    width: Math.min(460, parent ? parent.width - 48 : 460)
    height: column.height + 40
    padding: 20
    modal: true
    focus: true
    closePolicy: T.Popup.CloseOnEscape | T.Popup.CloseOnPressOutside
    onOpened: cancel.forceActiveFocus(Qt.TabFocusReason)

    T.Overlay.modal: Rectangle {
        color: "#80000000"
    }
    background: Rectangle {
        radius: 14
        color: Theme.raised
        border.color: Theme.line
    }

    Column {
        id: column
        width: parent.width
        spacing: 14
        TextLabel {
            width: parent.width
            text: qsTr("Clear the disk cache?")
            wrapMode: Text.Wrap
            font.pixelSize: Theme.title
            font.weight: Font.DemiBold
            Accessible.role: Accessible.Heading
        }
        TextLabel {
            width: parent.width
            text: qsTr("%n file(s) of all models are removed: %1. Your conversations stay; what they begin with is read anew when they go on.",
                       "", prompt.files).arg(prompt.amount)
            wrapMode: Text.Wrap
            color: Theme.muted
        }
        Row {
            anchors.right: parent.right
            spacing: 8
            TextButton {
                id: cancel
                objectName: "clearCancel"
                label: qsTr("Cancel")
                outlined: true
                onClicked: prompt.close()
            }
            TextButton {
                objectName: "clearConfirm"
                label: qsTr("Clear")
                strong: true
                onClicked: {
                    prompt.confirmed();
                    prompt.close();
                }
            }
        }
    }
}
