"""Rules of AWS as data: volumes, instances, prices, schedule expressions."""
