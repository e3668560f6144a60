// Part of a block, which is given its block before its bindings are made. Internal to MessageBody.
import QtQuick

Loader {
    required property Block block
    required property string part

    property bool made: false

    function load() {
        setSource(part, {
            "block": block
        });
    }

    onPartChanged: if (made)
        load()
    Component.onCompleted: {
        made = true;
        if (part !== "")
            load();
    }
}
