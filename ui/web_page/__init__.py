"""What pages share that is no kernel: styles, controls, downloads, a visitor who leaves."""
