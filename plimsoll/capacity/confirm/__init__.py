"""Confirming an answer: the next loads, repetitions, probes, soaks and closing steps."""
