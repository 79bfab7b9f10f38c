//! Tests of the fit: its arithmetic against published vectors and brute force, its predictions against real jobs.

mod arithmetic;
mod matrix;
