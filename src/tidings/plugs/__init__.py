"""Connections to other programs beside the web: `assistant` is a server of the Model Context
Protocol, `home_assistant` a device over MQTT.
"""
