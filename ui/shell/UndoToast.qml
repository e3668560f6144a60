// Says that a conversation was deleted and offers it back for a while. Several deletions stand in a row: Undo
// brings the newest back first; what is not brought back in time is gone for good.
import QtQuick
import QtQuick.Layouts
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

Rectangle {
    id: toast

    required property Session session
    property var waiting: [] // {id, title}, newest last
    readonly property bool offering: waiting.length > 0

    function offer(conversation: real, title: string) {
        waiting = waiting.concat([{ "id": conversation, "title": title }]);
        timer.restart();
    }
    function undo() {
        if (!offering)
            return;
        const newest = waiting[waiting.length - 1];
        waiting = waiting.slice(0, -1);
        session.undoRemove(newest.id);
    }
    function letGo() {
        for (const gone of waiting)
            session.purge(gone.id);
        waiting = [];
    }

    visible: offering
    implicitWidth: Math.min(440, row.implicitWidth + 28)
    implicitHeight: 48
    radius: 12
    color: Theme.raised
    border.color: Theme.control
    Accessible.role: Accessible.AlertMessage
    Accessible.name: words.text

    Timer {
        id: timer
        interval: 10000
        running: toast.offering && !hover.hovered
        onTriggered: toast.letGo()
    }
    HoverHandler {
        id: hover
    }
    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: 16
        anchors.rightMargin: 12
        spacing: 8
        TextLabel {
            id: words
            Layout.fillWidth: true
            text: toast.offering ? qsTr("Deleted “%1”").arg(toast.waiting[toast.waiting.length - 1].title) : ""
            elide: Text.ElideRight
        }
        TextButton {
            objectName: "undoButton"
            label: qsTr("Undo")
            accent: true
            size: Theme.medium
            onClicked: toast.undo()
        }
        IconButton {
            name: qsTr("Dismiss")
            iconName: "close"
            iconSize: 14
            onClicked: toast.letGo()
        }
    }
}
