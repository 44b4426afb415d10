"""Plugs: other programs that speak with a Tidings of their own accord or ours, beside the door.

`assistant` is a server of the Model Context Protocol, `home_assistant` a device over MQTT.
"""
