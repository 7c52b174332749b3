"""Executed statements: which of them does an outcome of a program need?"""
