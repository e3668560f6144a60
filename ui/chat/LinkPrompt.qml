// Asks before an address that stands in an answer is opened: the model wrote it, not the person.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Theme

T.Popup {
    id: prompt

    property string address

    signal copyWanted(text: string)

    function ask(url: string) {
        address = url;
        open();
    }

    anchors.centerIn: parent
    width: Math.min(480, parent ? parent.width - 48 : 480)
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
            text: qsTr("Open this address in your browser?")
            wrapMode: Text.Wrap
            font.pixelSize: Theme.title
            font.weight: Font.DemiBold
            Accessible.role: Accessible.Heading
        }
        TextLabel {
            objectName: "linkAddress"
            width: parent.width
            text: prompt.address
            wrapMode: Text.WrapAnywhere
            maximumLineCount: 6
            elide: Text.ElideRight
            color: Theme.muted
            font.family: Theme.codeFamily
            font.pixelSize: Theme.small
        }
        Row {
            anchors.right: parent.right
            spacing: 8
            TextButton {
                id: cancel
                objectName: "linkCancel"
                label: qsTr("Cancel")
                outlined: true
                onClicked: prompt.close()
            }
            TextButton {
                objectName: "linkCopy"
                label: qsTr("Copy")
                outlined: true
                onClicked: {
                    prompt.copyWanted(prompt.address);
                    prompt.close();
                }
            }
            TextButton {
                label: qsTr("Open")
                strong: true
                onClicked: {
                    Qt.openUrlExternally(prompt.address);
                    prompt.close();
                }
            }
        }
    }
}
