//! Which run would teach most: D-optimal choice among candidates.
//!
//! The determinant of X'X is the inverse square of the volume of the coefficients' confidence ellipsoid (Fedorov,
//! Theory of Optimal Experiments, 1972). One run more multiplies it by 1 + x' (X'X)^-1 x (matrix determinant lemma).

use crate::linear::{Matrix, cholesky, dot, leverage};

/// Added to the diagonal of what is scaled to ones, for terms that no run has shown yet.
const UNKNOWN: f64 = 1e-6;

/// How much each candidate would enlarge the determinant of these rows, as a factor's logarithm. Columns are scaled, so
/// that units do not decide; a column in which nobody has anything is left out.
pub fn gains(known: &Matrix, candidates: &[Vec<f64>]) -> Vec<f64> {
    let n = known.columns();
    let all = || known.rows().iter().chain(candidates);
    let scale = |column: usize| all().map(|row| row[column].abs()).fold(0.0, f64::max);
    let scales: Vec<f64> = (0..n).map(scale).collect();
    let used: Vec<usize> = (0..n).filter(|column| scales[*column] > 0.0).collect();
    let scaled = |row: &[f64]| -> Vec<f64> { used.iter().map(|column| row[*column] / scales[*column]).collect() };
    let rows: Vec<Vec<f64>> = known.rows().iter().map(|row| scaled(row)).collect();
    let column = |i: usize| -> Vec<f64> { rows.iter().map(|row| row[i]).collect() };
    let columns: Vec<Vec<f64>> = (0..used.len()).map(column).collect();
    let entry = |i: usize, j: usize| dot(&columns[i], &columns[j]) + if i == j { UNKNOWN } else { 0.0 };
    let information: Vec<Vec<f64>> = (0..used.len()).map(|i| (0..used.len()).map(|j| entry(i, j)).collect()).collect();
    let Some(lower) = cholesky(&information) else { return vec![0.0; candidates.len()] };
    candidates.iter().map(|row| libm::log1p(leverage(&lower, &scaled(row)))).collect()
}
