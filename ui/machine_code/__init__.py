"""What the compiler made of a kernel, as the Step and Write pages show it."""
